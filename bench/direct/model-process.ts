import { call, say, type Script, scriptedModel } from "../../test/support/scripted-model.ts";

/** The program of `model.ts`: a scripted Messages API in a process of its own. It prints its address as a line of JSON. */

/**
 * Milliseconds from the request to the first byte of the answer: what a Messages API near by takes at the least. A
 * stand-in that answers at once would make everything look slow beside it.
 */
const FIRST_BYTE_MS = 4;
const CALLS = 10;
const LONG_ANSWER = Array.from({ length: 200 }, (_, index) => `word${index}`).join(" ");

/** What it says depends on the last message, so that all cases can share it. */
const script: Script = ({ body, last, toolResults }) => {
  const asked = body.messages.findLast(({ role, content }) => role === "user" && !isResult(content));
  const [, file] = /^Read (.+) ten times\.$/.exec(textIn(asked?.content ?? "")) ?? [];
  const since = asked === undefined ? 0 : body.messages.indexOf(asked);
  const done = body.messages.slice(since).filter(({ role }) => role === "assistant").length;
  if (file !== undefined && done < CALLS) return { ...call("Read", { file_path: file }), delay: FIRST_BYTE_MS };
  if (last.includes("Run a command") && toolResults.length === 0)
    return { ...call("Bash", { command: "export A=1" }), delay: FIRST_BYTE_MS };
  if (last.includes("Talk")) return say(LONG_ANSWER, { pace: 20, delay: FIRST_BYTE_MS });
  return say("Done, just as you asked.", { pace: 1, delay: FIRST_BYTE_MS });
};

type Content = Parameters<Script>[0]["body"]["messages"][number]["content"];

function isResult(content: Content): boolean {
  return typeof content !== "string" && content.some(({ type }) => type === "tool_result");
}

function textIn(content: Content): string {
  if (typeof content === "string") return content;
  return content.map(({ text }) => (typeof text === "string" ? text : "")).join("");
}

/** What it prints. */
export interface StartedModel {
  readonly url: string;
}

const model = await scriptedModel(script, { remembers: false });
console.log(JSON.stringify({ url: model.url } satisfies StartedModel));
