import { anything, assert, property } from "fast-check";
import { expect, test } from "vitest";
import { newlySaid, newToolResults } from "../../src/gateway/new-messages.ts";

const calls = (...names: string[]) => ({
  role: "assistant",
  content: names.map((name, index) => ({ type: "tool_use", id: `${name}-${index}`, name, input: {} })),
});
const results = (...ids: string[]) => ({
  role: "user",
  content: ids.map((id) => ({ type: "tool_result", tool_use_id: id, content: "ok" })),
});
const said = { role: "user", content: "hello" };

test.each<[string, unknown, string[]]>([
  ["a first message", [said], []],
  ["a result", [said, calls("Bash"), results("Bash-0")], ["Bash"]],
  ["several results", [said, calls("Bash", "Read"), results("Bash-0", "Read-1")], ["Bash", "Read"]],
  [
    "results in several messages",
    [said, calls("Bash", "Read"), results("Read-1"), results("Bash-0")],
    ["Read", "Bash"],
  ],
  ["a result that was read before", [calls("Bash"), results("Bash-0"), { role: "assistant", content: "ok" }, said], []],
  ["a result of a call that is not there", [calls("Bash"), results("Read-1")], []],
  ["a result without its call", [results("Bash-0")], []],
  ["no list", "hello", []],
])("a request with %s is the first to read its results", (_what, messages, names) => {
  expect(newToolResults(messages).map(({ engineName }) => engineName)).toEqual(names);
});

test("anything else is no result, and says nothing that breaks", () => {
  assert(property(anything(), (messages) => Array.isArray(newToolResults(messages))));
  assert(property(anything(), (messages) => typeof newlySaid(messages) === "string"));
});

test.each<[string, unknown, string]>([
  ["a first message", [said], "hello"],
  ["what was answered", [said, { role: "assistant", content: "ok" }], ""],
  [
    "a message after an answer",
    [said, { role: "assistant", content: "ok" }, { role: "user", content: "more" }],
    "more",
  ],
  [
    "a message of the user in one of the system, beside a result",
    [calls("Bash"), results("Bash-0"), { role: "system", content: [{ type: "text", text: "The user said: more" }] }],
    "ok\nThe user said: more",
  ],
  [
    "text within a result",
    [{ role: "user", content: [{ type: "tool_result", tool_use_id: "x", content: [{ type: "text", text: "deep" }] }] }],
    "deep",
  ],
])("a request with %s is the first to carry its text", (_what, messages, text) => {
  expect(newlySaid(messages)).toBe(text);
});
