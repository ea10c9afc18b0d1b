import { describe, expect, test } from "vitest";
import { type Decided, replayDecision } from "../../../src/core/permission/replay.ts";
import { compileRules } from "../../../src/core/permission/rule-set.ts";
import { bash } from "./subjects.ts";

const rules = compileRules({ allow: ["Bash(ls *)"], ask: ["Bash(git push *)"], deny: ["Bash(rm *)"] });

function recordedDecision(command: string, fields: Partial<Decided>): Decided {
  return {
    type: "capstan.permission_decided",
    id: "sevt_1",
    processed_at: "2026-01-01T00:00:00Z",
    call_id: "call_1",
    tool_use_id: "sevt_0",
    tool: "Bash",
    decision: "allow",
    decided_by: "mode:yolo",
    reason: "",
    subject: bash(command),
    mode: "normal",
    traits: { readOnly: false, edit: false, safeInternal: false },
    ...fields,
  };
}

describe("a recorded decision under other rules", () => {
  test.each<[string, string, Partial<Decided>, string, string]>([
    ["is denied now", "rm x", {}, "allow", "deny"],
    ["is asked about now", "git push", {}, "allow", "ask"],
    ["is allowed now", "ls -l", { decided_by: "person:me" }, "ask", "allow"],
    ["was asked about and denied", "ls -l", { decided_by: "person:me", decision: "deny" }, "ask", "allow"],
    ["stays denied by the agent's tools", "ls", { decided_by: "agent:tools", decision: "deny" }, "deny", "deny"],
    ["stays answered by a grant", "npm test", { decided_by: "grant:grnt_1" }, "allow", "allow"],
    ["is denied in spite of a grant", "rm x", { decided_by: "grant:grnt_1" }, "allow", "deny"],
    ["keeps its mode", "npm test", { mode: "yolo" }, "allow", "allow"],
  ])("%s", (_what, command, fields, before, now) => {
    expect(replayDecision(recordedDecision(command, fields), rules)).toMatchObject({ before, now });
  });

  test("can be replayed in another mode", () => {
    expect(replayDecision(recordedDecision("ls", { mode: "yolo" }), rules, "read-only")).toMatchObject({ now: "deny" });
  });

  test.each<[string, Partial<Decided>]>([
    ["without what it was about", { subject: undefined }],
    ["without its mode", { mode: undefined }],
    ["made by a limit", { decided_by: "limit:usd" }],
    ["made by a failure", { decided_by: "error" }],
  ])("%s is left out", (_what, fields) => {
    expect(replayDecision(recordedDecision("ls", fields), rules)).toBeUndefined();
  });
});
