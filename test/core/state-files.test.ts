import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../../src/core/events/events.ts";
import type { FilesState } from "../../src/core/session/state-files.ts";
import { example } from "../support/event-examples.ts";
import { fold } from "../support/event-logs.ts";

const taken = (id: string, commit = `commit-${id}`): SessionEvent =>
  example("capstan.checkpoint_taken", { checkpoint_id: id, commit });
const ref = (id: string) => ({ id, commit: `commit-${id}` });
const asked = (call_id: string): SessionEvent => example("agent.tool_use", { call_id });
const decided = (call_id: string, decision: "allow" | "deny", readOnly: boolean): SessionEvent =>
  example("capstan.permission_decided", {
    call_id,
    decision,
    traits: { readOnly, edit: !readOnly, safeInternal: false },
  });
const answered = (call_id: string): SessionEvent => example("agent.tool_result", { call_id });
const prepared = example("capstan.workspace_prepared");
const { type: _type, id: _id, processed_at: _time, ...workspace } = prepared;
const rewinding = example("capstan.rewind_started", {
  checkpoint_id: "a",
  commit: "commit-a",
  undo_checkpoint_id: "b",
});
const rewound = example("capstan.rewound", { checkpoint_id: "a", undo_checkpoint_id: "b" });

describe("what a session's state says of its files", () => {
  test.each<[string, readonly SessionEvent[], FilesState]>([
    ["is nothing before anything happened", [], { calls: [] }],
    ["is the workspace that was made", [prepared], { calls: [], workspace }],
    ["has the first checkpoint and the last", [taken("a"), taken("b")], { calls: [], start: ref("a"), last: ref("b") }],
    [
      "has the calls that may have changed something since the last checkpoint",
      [taken("a"), asked("x"), decided("x", "allow", false), asked("y"), decided("y", "allow", false), answered("x")],
      { calls: ["x", "y"], start: ref("a"), last: ref("a") },
    ],
    [
      "has no calls that only read, or that were denied",
      [asked("x"), decided("x", "allow", true), asked("y"), decided("y", "deny", false)],
      { calls: [] },
    ],
    [
      "keeps those that still run when a checkpoint is taken",
      [asked("x"), decided("x", "allow", false), asked("y"), decided("y", "allow", false), answered("x"), taken("a")],
      { calls: ["y"], start: ref("a"), last: ref("a") },
    ],
    [
      "has the checkpoint that was taken out",
      [example("capstan.workspace_exported", { commit: "c" })],
      { calls: [], exported: "c" },
    ],
    [
      "is marked when a workspace of its own is gone",
      [prepared, example("capstan.workspace_removed")],
      { calls: [], workspace, removed: true },
    ],
    [
      "is nothing again when only checkpoints are gone",
      [taken("a"), example("capstan.workspace_removed")],
      { calls: [] },
    ],
    [
      "stands at the checkpoint that it was rewound to, which the model does not know yet",
      [taken("a"), taken("b"), rewinding, rewound],
      { calls: [], start: ref("a"), last: ref("a"), untold: true },
    ],
    [
      "stands where it stood when a rewind failed",
      [taken("a"), taken("b"), rewinding, example("capstan.rewind_failed")],
      { calls: [], start: ref("a"), last: ref("b") },
    ],
    [
      "is known to the model after the next message",
      [taken("a"), taken("b"), rewinding, rewound, example("user.message")],
      { calls: [], start: ref("a"), last: ref("a") },
    ],
    [
      "are to be told of when the conversation went back as well: the files may be those of the middle of a turn",
      [taken("a"), taken("b"), rewinding, { ...rewound, to_seq: 1 }],
      { calls: [], start: ref("a"), last: ref("a"), untold: true },
    ],
  ])("%s", (_what, events, files) => {
    expect(fold(events).files).toEqual(files);
  });

  test("remembers a rewind that was begun, for whoever has to finish it", () => {
    expect(fold([taken("a"), rewinding]).files.rewinding).toMatchObject({ checkpoint_id: "a", commit: "commit-a" });
  });

  test("lets the history be read from its start again when the conversation went back behind a compaction", () => {
    const compacted = example("agent.thread_context_compacted");
    expect(fold([compacted]).historyFrom).toBeGreaterThan(0);
    expect(fold([compacted, rewinding, { ...rewound, to_seq: 0 }]).historyFrom).toBe(0);
  });
});
