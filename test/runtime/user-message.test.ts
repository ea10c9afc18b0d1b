import { expect, test } from "vitest";
import type { MessageContent } from "../../src/core/events/content.ts";
import { expandMessage } from "../../src/runtime/turn/user-message.ts";

const agent = { commands: { review: { prompt: "Review {{args}}." } } };
const text = (words: string): MessageContent => [{ type: "text", text: words }];

test("a message that is one of the agent's commands is what it stands for, with what was written", () => {
  expect(expandMessage(agent, text("/review src"))).toEqual({ content: text("Review src."), command: "/review src" });
});

test.each<[string, MessageContent]>([
  ["another command", text("/deploy")],
  ["a path", text("/review/src")],
  ["words before it", text("please /review src")],
  ["a space before it", text(" /review src")],
  ["something beside it", [...text("/review src"), ...text("and this")]],
])("a message with %s is as it was written", (_what, content) => {
  expect(expandMessage(agent, content)).toEqual({ content });
});
