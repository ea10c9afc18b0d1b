import { expect, test } from "vitest";
import { checkpointsIn, currentCheckpoint, ownSteps } from "../../src/core/session/checkpoint-list.ts";
import { conversationOf } from "../../src/core/session/conversation.ts";
import type { SessionEvent, StoredEvent } from "../../src/core/events/events.ts";
import { pointIn } from "../../src/runtime/files/change-steps.ts";
import { example } from "../support/event-examples.ts";
import { fold } from "../support/event-logs.ts";

const log = (...events: readonly SessionEvent[]): StoredEvent[] =>
  events.map((event, index) => ({ seq: index + 1, hash: "", event }));
const said = (text: string): SessionEvent => example("user.message", { content: [{ type: "text", text }] });
const back = (to_seq: number): SessionEvent => example("capstan.rewound", { to_seq });
const textsOf = (events: readonly StoredEvent[]): string[] =>
  conversationOf(events).flatMap(({ event }) =>
    event.type === "user.message" ? event.content.flatMap((block) => (block.type === "text" ? [block.text] : [])) : [],
  );

test("a conversation that goes back forgets what was said since, and remembers it when that is undone", () => {
  expect(textsOf(log(said("a"), said("b")))).toEqual(["a", "b"]);
  expect(textsOf(log(said("a"), said("b"), back(1), said("c")))).toEqual(["a", "c"]);
  expect(textsOf(log(said("a"), said("b"), back(1), said("c"), back(2), said("d")))).toEqual(["a", "b", "d"]);
  expect(textsOf(log(said("a"), back(0), said("b"), back(1), said("c")))).toEqual(["a", "c"]);
});

test("a rewind of the files alone leaves the conversation as it is", () => {
  const { to_seq: _none, ...filesOnly } = example("capstan.rewound");
  expect(textsOf(log(said("a"), filesOnly, said("b")))).toEqual(["a", "b"]);
});

const taken = (
  id: string,
  more: Partial<Extract<SessionEvent, { type: "capstan.checkpoint_taken" }>> = {},
): SessionEvent => example("capstan.checkpoint_taken", { checkpoint_id: id, commit: `commit of ${id}`, ...more });

test("a checkpoint knows the one before it, and what is there now comes from where the files were brought to", () => {
  const events = log(
    taken("one"),
    taken("two"),
    example("capstan.rewind_started", {
      checkpoint_id: "one",
      commit: "what became of it",
      undo_commit: "commit of two",
    }),
    example("capstan.rewound", { checkpoint_id: "one" }),
    taken("three", { calls: ["call"], unsure: true }),
  );
  expect(checkpointsIn(events).map(({ id, since }) => [id, since?.id])).toEqual([
    ["one", undefined],
    ["two", "one"],
    ["three", "one"],
  ]);
  expect(currentCheckpoint(events)?.id).toBe("three");
  expect(currentCheckpoint(events.slice(0, 4))).toMatchObject({ id: "one", commit: "what became of it" });
  // The session's own: the rewind, and what its call did after it. The checkpoints before were of nobody's work.
  expect(ownSteps(events).slice(-2)).toEqual([
    { seq: 4, from: "commit of two", to: "what became of it", unsure: false },
    { seq: 5, from: "what became of it", to: "commit of three", unsure: true },
  ]);
});

test("checkpoints that were removed are not listed", () => {
  const events = log(taken("one"), example("capstan.workspace_removed"), taken("two"));
  expect(checkpointsIn(events).map(({ id, since }) => [id, since])).toEqual([["two", undefined]]);
});

test("the conversation goes back to the end of a turn, not into the middle of one", () => {
  const idle = example("session.status_idle");
  const running = example("session.status_running");
  const events = log(
    running,
    taken("first", { reason: "call" }),
    taken("end", { reason: "turn_end" }),
    idle,
    running,
    taken("second", { reason: "call" }),
    idle,
    taken("asked", { reason: "rewind" }),
  );
  expect(checkpointsIn(events).map(({ id, conversation, turn }) => [id, conversation, turn])).toEqual([
    ["first", 0, 1],
    ["end", 4, 1],
    ["second", 4, 2],
    ["asked", 8, 2],
  ]);
});

test("after a conversation went back, a checkpoint stands where it goes on from, not in what was taken back", () => {
  const idle = example("session.status_idle");
  const running = example("session.status_running");
  const events = log(
    running,
    taken("one", { reason: "call" }),
    idle,
    said("forgotten"),
    running,
    idle,
    back(0),
    said("new"),
  );
  const all = [
    ...events,
    ...log(running, taken("two", { reason: "call" })).map((one) => ({ ...one, seq: one.seq + 8 })),
  ];
  const two = checkpointsIn(all).at(-1);
  expect(two?.conversation).toBe(7);
  expect(textsOf([...all, { seq: 11, hash: "", event: back(two?.conversation ?? 0) }])).toEqual([]);
});

test("the last turn is taken back alone, also when turns before it changed no file", () => {
  const idle = example("session.status_idle");
  const running = example("session.status_running");
  const decided = example("capstan.permission_decided", {
    decision: "allow",
    traits: { readOnly: false, edit: false, safeInternal: false },
  });
  const events = log(
    said("edit"),
    running,
    taken("one", { reason: "call" }),
    decided,
    taken("end", { reason: "turn_end" }),
    idle,
    said("chat"),
    running,
    idle,
    said("edit again"),
    running,
    decided,
    taken("two", { reason: "turn_end" }),
    idle,
  );
  const point = pointIn(events, "turn");
  expect(point).toMatchObject({ id: "end", conversation: 9 });
});

test("what was said and waits is taken back with the conversation", () => {
  const state = fold([said("a"), said("b"), { ...example("capstan.rewound"), to_seq: 1 }]);
  expect(state.undelivered.map(({ seq }) => seq)).toEqual([1]);
});
