import { describe, expect, test } from "vitest";
import type { Approval, ApprovalAnswer } from "../../src/core/session/approval.ts";
import type { ToolContent } from "../../src/core/events/content.ts";
import { resultOf } from "../../src/runtime/approvals/answers.ts";
import { example } from "../support/event-examples.ts";

const approval = (kind: Approval["request"]["kind"]): Approval => ({
  id: "appr_1",
  sessionId: "sesn_1",
  project: "default",
  agent: "clerk",
  status: "pending",
  request: example("capstan.approval_requested", { kind, tool: "lookup" }),
  createdAt: 0,
  expiresAt: null,
  answer: null,
});
const gives = (content: ToolContent, isError = false): ApprovalAnswer => ({
  behavior: "allow",
  result: { content, isError },
});
const text = (value: string): ToolContent => [{ type: "text", text: value }];
const base64 = (type: "image" | "document", media_type: string, data: string): ToolContent => [
  { type, source: { type: "base64", media_type, data } },
];

describe("the result of a custom tool", () => {
  test.each<[string, ApprovalAnswer, ToolContent]>([
    ["a text", gives(text("blue")), text("blue")],
    ["nothing", gives([]), []],
    ["an error", gives(text("no"), true), text("no")],
    ["an image", gives(base64("image", "image/png", "aW1hZ2U=")), base64("image", "image/png", "aW1hZ2U=")],
    ["a text of nothing, which the model API refuses", gives([...text(""), ...text("b")]), text("b")],
    ["half a character, which the model API refuses", gives(text("a\uD800")), text("a\uFFFD")],
  ])("may be %s", (_what, answer, content) => {
    expect(resultOf(approval("custom_tool"), answer)).toEqual({
      result: { content, isError: answer.result?.isError },
    });
  });

  test.each<[string, unknown, RegExp]>([
    ["no result", { behavior: "allow" }, /lookup runs in a client: allow it with its result/],
    ["a denial without a reason", { behavior: "deny", message: " " }, /Say in the message why lookup gives no result/],
    ["a denial with a result", { ...gives(text("x")), behavior: "deny", message: "no" }, /A denial has no result/],
    ["a text in place of blocks", { behavior: "allow", result: { content: "x", isError: false } }, /^content: /],
    ["a block of no known kind", gives([{ type: "video" } as never]), /^content\.0/],
    ["an unknown key", { behavior: "allow", result: { content: [], isError: false, ok: true } }, /"ok"/],
    ["an image of another kind", gives(base64("image", "image/tiff", "aW1h")), /image\/tiff is no image/],
    ["a document of another kind", gives(base64("document", "text/html", "aW1h")), /Give application\/pdf/],
    ["data that is not base64", gives(base64("image", "image/png", "a b!")), /content\.0: .* not base64/],
    ["an image that is too large", gives(base64("image", "image/png", "A".repeat(5_000_004))), /5000000 are possible/],
    [
      "documents that are too large together",
      gives([1, 2].flatMap(() => base64("document", "application/pdf", "A".repeat(12_000_000)))),
      /24000000 bytes in base64/,
    ],
    ["too much text", gives([...text("x".repeat(300_000)), ...text("y".repeat(100_001))]), /400001 characters of text/],
  ])("with %s is refused", (_what, answer, message) => {
    expect(() => resultOf(approval("custom_tool"), answer as ApprovalAnswer)).toThrow(
      expect.objectContaining({ code: "invalid_input", message: expect.stringMatching(message) }),
    );
  });

  test.each(["tool", "plan", "question"] as const)("is not taken for a %s", (kind) => {
    expect(resultOf(approval(kind), { behavior: "allow" })).toEqual({});
    expect(() => resultOf(approval(kind), gives(text("x")))).toThrow(/A result is for a custom tool/);
  });
});
