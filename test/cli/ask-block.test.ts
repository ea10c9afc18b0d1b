import { stripVTControlCharacters } from "node:util";
import { describe, expect, test } from "vitest";
import { approvalBlock } from "../../src/cli/ask/ask-block.ts";
import type { Approval } from "../../src/core/session/approval.ts";

const asked = (diff: string): Approval => ({
  id: "appr_1",
  sessionId: "sesn_1",
  project: "default",
  agent: "tester",
  status: "pending",
  createdAt: 0,
  expiresAt: null,
  answer: null,
  request: {
    type: "capstan.approval_requested",
    id: "sevt_1",
    processed_at: "2026-01-01T00:00:00.000Z",
    approval_id: "appr_1",
    kind: "tool",
    call_id: "toolu_1",
    tool_use_id: "sevt_0",
    tool: "Write",
    input: { file_path: "run.sh", content: "token=really-this" },
    title: "Write run.sh",
    diff,
    asked_by: "default:ask",
    reason: "No rule covers this Write call.",
    traits: { readOnly: false, edit: true, safeInternal: false },
    remember: [],
    expires_at: null,
  },
});
const shown = (diff: string): string => stripVTControlCharacters(approvalBlock(asked(diff), { width: 100 }).text);

describe("an edit on the terminal", () => {
  test("is told by its change alone when that tells everything", () => {
    expect(shown("+token=really-this")).not.toContain("content");
  });

  test.each(["+token=[redacted:token]", "+tok\n… (cut: the whole change is in the input)"])(
    "is shown whole beside a change that hides some of it: %j",
    (diff) => expect(shown(diff)).toMatch(/content\s+token=really-this/),
  );
});
