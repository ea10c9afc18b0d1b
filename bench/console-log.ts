import type { EventDraft } from "../src/core/events/events.ts";
import type { Store } from "../src/core/ports/store.ts";
import { agent } from "../test/support/host.ts";
import { ids, logOf, newSession, pastTurn } from "./past-turns.ts";

const BATCH = 1_000;
/** The last words of every session: a page that shows them shows the end. */
export const LAST_WORDS = "These are the last words.";

/**
 * Stores a session of `length` events as they come from real work: messages with markdown and code, thinking, commands
 * with their output, files read and edited.
 */
export async function workedSession(store: Store, cwd: string, length: number): Promise<string> {
  const lease = await newSession(store, { agent: agent(), cwd });
  const log = await logOf(store, lease);
  const drafts: EventDraft[] = [];
  for (let turn = 0; drafts.length < length; turn += 1) drafts.push(...workedTurn(turn));
  // The oldest turn may lose its start, never its end.
  drafts.splice(0, drafts.length - length);
  const last = drafts.findLastIndex(({ type }) => type === "agent.message");
  drafts.splice(last, 1, messageEvent("msg_last", `All of it is done. ${LAST_WORDS}`));
  for (let at = 0; at < drafts.length; at += BATCH) await log.append(drafts.slice(at, at + BATCH));
  await store.leases.release(lease);
  return lease.sessionId;
}

/** One ordinary turn with work in the middle: 34 events. */
function workedTurn(turn: number): EventDraft[] {
  const [message, running, delivered, ...rest] = pastTurn(turn);
  if (message === undefined || running === undefined || delivered === undefined) throw new Error("A turn is longer.");
  const asked = `msg_${message.id}`;
  return [
    message,
    running,
    delivered,
    thinkingEvent(asked, "The failing test is named after what it checks, so the reason is near. ".repeat(6)),
    messageEvent(asked, `I will look at **part ${turn}** first, and at the test that fails.`),
    ...callEvents(asked, "Read", { file_path: `src/part-${turn}.ts` }, numberLines(code(turn, 60))),
    ...callEvents(asked, "Bash", { command: `vitest run test/part-${turn}.test.ts` }, output(turn, 40)),
    thinkingEvent(asked, "The sum is taken before the last line is read. ".repeat(10)),
    ...callEvents(
      asked,
      "Edit",
      {
        file_path: `src/part-${turn}.ts`,
        old_string: code(turn, 12),
        new_string: code(turn + 1, 14),
      },
      `The file src/part-${turn}.ts has been updated.`,
    ),
    ...callEvents(asked, "Grep", { pattern: `part${turn}`, path: "src" }, output(turn, 8)),
    ...callEvents(asked, "Bash", { command: "vitest run && oxlint --deny-warnings" }, output(turn, 25)),
    ...callEvents(asked, "TodoWrite", { todos: [{ content: `Mend part ${turn}`, status: "completed" }] }, "Noted."),
    ...callEvents(
      asked,
      "mcp_lookup",
      { name: `part ${turn}`, depth: 2 },
      JSON.stringify({ found: turn, in: ["a", "b"] }),
    ),
    messageEvent(asked, report(turn)),
    ...rest,
  ];
}

function callEvents(message_id: string, name: string, input: Record<string, unknown>, result: string): EventDraft[] {
  const id = ids.next("sevt");
  const call_id = `toolu_${id}`;
  return [
    { type: "agent.tool_use", id, message_id, call_id, name, engine_name: name, input },
    {
      type: "capstan.permission_decided",
      call_id,
      tool_use_id: id,
      tool: name,
      decision: "allow",
      decided_by: `rule:allow ${name}`,
      reason: `A rule of the agent allows ${name}.`,
    },
    {
      type: "agent.tool_result",
      call_id,
      tool_use_id: id,
      outcome: "completed",
      content: [{ type: "text", text: result }],
      is_error: false,
    },
  ];
}

function messageEvent(message_id: string, text: string): EventDraft {
  return { type: "agent.message", message_id, content: [{ type: "text", text }] };
}

function thinkingEvent(message_id: string, thinking: string): EventDraft {
  return { type: "agent.thinking", message_id, thinking, signature: "c2lnbmF0dXJl" };
}

function code(seed: number, lines: number): string {
  return Array.from(
    { length: lines },
    (_, line) => `  const value${line} = await read("part-${seed}", { from: ${line * seed}, isWhole: true }); // line`,
  ).join("\n");
}

function numberLines(text: string): string {
  return text
    .split("\n")
    .map((line, index) => `${String(index + 1).padStart(6)}\t${line}`)
    .join("\n");
}

function output(seed: number, lines: number): string {
  return Array.from(
    { length: lines },
    (_, line) => ` ✓ test/part-${seed}.test.ts > does what it says in case ${line} (${(line * 7) % 40} ms)`,
  ).join("\n");
}

function report(turn: number): string {
  return [
    `Thing number ${turn} is done. What was wrong: the sum was taken _before_ the last line was read.`,
    "",
    `1. \`src/part-${turn}.ts\` reads to the end first`,
    "2. the test covers a file **without** a last newline",
    "",
    "```ts",
    code(turn, 8),
    "```",
    "",
    "| file | before | after |",
    "| --- | --- | --- |",
    `| part-${turn} | 12 ms | 9 ms |`,
    "",
    "Nothing else was touched; say so if you want the other callers looked at as well.",
  ].join("\n");
}
