import { DEFAULT_ENGINE } from "../../core/agent/engine-name.ts";
import type { CassetteDifference } from "../../app/record/compare-cassettes.ts";
import type {
  Cassette,
  CassetteExchange,
  CassetteThread,
  RecordedAnswer,
  RecordedNews,
} from "../../core/suite/cassette.ts";
import { groupDifferences, othersText } from "./group-differences.ts";
import { wrapText } from "../terminal/text.ts";
import { paintPatch } from "../workspace/diff-view.ts";
import { color, count, oneLine } from "../terminal/text.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

export interface CassetteView {
  /** Shows full texts and the instructions. */
  readonly isFull: boolean;
  /** In columns. */
  readonly width: number;
}

/** Lines shown of a long text. */
const SHOWN_LINES = 8;
const INDENT = "      ";

/** Shows a cassette as a conversation. */
export function cassetteText(cassette: Cassette, view: CassetteView): string {
  const { suite, case: name, trial, recorded } = cassette;
  const head = [
    color.bold(escapeHidden(`${suite}: ${name}${trial === 1 ? "" : `, trial ${trial}`}`)),
    color.dim(
      escapeHidden(`recorded ${recorded.at} · capstan ${recorded.capstan} · SDK ${recorded.sdk}${engineOf(cassette)}`),
    ),
  ];
  return [head.join("\n"), ...cassette.threads.map((thread) => threadText(thread, cassette, view))].join("\n\n");
}

/** Empty for the default engine. */
function engineOf({ recorded: { engine = DEFAULT_ENGINE } }: Cassette): string {
  return engine === DEFAULT_ENGINE ? "" : ` · engine ${engine}`;
}

export function differencesText(differences: readonly CassetteDifference[]): string {
  return groupDifferences(differences)
    .map(({ first: { session, thread, ordinal, summary, diff }, others }) => {
      const title = `${threadName({ session, thread })}, request ${ordinal}${othersText(others)}: ${summary}`;
      return `${color.bold(escapeHidden(title))}\n${paintPatch(escapeHidden(diff.trimEnd()))}`;
    })
    .join("\n\n");
}

/** `main`, a subagent or a judge. */
function threadName({ session, thread }: Pick<CassetteThread, "session" | "thread">): string {
  return session === "case" ? thread : thread === "main" ? session : `${session} ${thread}`;
}

function threadText(thread: CassetteThread, { texts }: Cassette, view: CassetteView): string {
  const { exchanges } = thread;
  const side = thread.class === "main" || thread.class === "subagent" ? "" : ` (${thread.class})`;
  const number = exchanges.length === 1 ? "1 request" : `${count(exchanges.length)} requests`;
  const lines = [color.bold(escapeHidden(`${threadName(thread)}${side}: ${number}`))];
  let before: CassetteExchange | undefined;
  for (const [index, exchange] of exchanges.entries()) {
    lines.push(...settingsLines(exchange, before, { texts, view }), ...exchangeLines(exchange, index + 1, view));
    before = exchange;
  }
  return lines.join("\n");
}

/** Shows settings only where they change. */
function settingsLines(
  { model, instructions, tools }: CassetteExchange,
  before: CassetteExchange | undefined,
  { texts, view }: { readonly texts: Cassette["texts"]; readonly view: CassetteView },
): string[] {
  const lines: string[] = [];
  if (model !== before?.model) lines.push(...row("model", model, view));
  if (tools !== before?.tools) lines.push(...row("tools", toolNames(texts[tools]), view));
  if (view.isFull && instructions !== before?.instructions)
    lines.push(...row("instructions", plainText(texts[instructions]), view));
  return lines;
}

function toolNames(tools: unknown): string {
  const names = ((tools ?? []) as readonly { readonly name?: string }[]).map(({ name = "?" }) => name);
  return names.length === 0 ? "none" : names.join(", ");
}

function exchangeLines({ news, answer }: CassetteExchange, ordinal: number, view: CassetteView): string[] {
  return [
    `  ${color.dim(`${ordinal}`)}`,
    ...news.flatMap((message) => inputLines(message, view)),
    ...answerLines(answer, view),
  ];
}

const ROLES: Readonly<Record<string, string>> = { user: "user", system: "engine" };

function inputLines({ role, content }: RecordedNews, view: CassetteView): string[] {
  return content.flatMap((block) =>
    block.type === "tool_result"
      ? row(block["is_error"] === true ? "tool failed" : "tool result", plainText(block["content"]), view)
      : row(ROLES[role] ?? role, plainText(block), view),
  );
}

function answerLines(answer: RecordedAnswer, view: CassetteView): string[] {
  if (answer.kind === "error")
    return row(color.red("model"), `error ${answer.status}: ${JSON.stringify(answer.body)}`, view);
  const { content, stop_reason: reason, usage } = answer.message;
  const end = answer.kind === "cut" ? `interrupted by the ${answer.by}` : (reason ?? "no stop reason");
  const tokens = [`${figure(usage["input_tokens"])} in`, `${figure(usage["output_tokens"])} out`];
  return [
    ...content.flatMap((block) => outputLines(block, view)),
    `    ${color.dim(escapeHidden([end, ...tokens].join(" · ")))}`,
  ];
}

function outputLines(block: RecordedNews["content"][number], view: CassetteView): string[] {
  switch (block.type) {
    case "tool_use":
    case "server_tool_use":
      return row(color.cyan("calls"), `${String(block["name"])} ${JSON.stringify(block["input"])}`, view);
    case "thinking":
      return row(color.green("thinks"), String(block["thinking"]), view);
    default:
      return row(color.green("says"), plainText(block), view);
  }
}

function figure(value: unknown): string {
  return typeof value === "number" ? count(value) : "?";
}

/** A name and its text, shortened unless `isFull`. */
function row(name: string, text: string, { isFull, width }: CassetteView): string[] {
  const lines = escapeHidden(text.trimEnd())
    .split("\n")
    .flatMap((line) => wrapText(line, width - INDENT.length));
  const [only, ...others] = lines;
  if (others.length === 0 && only !== undefined && name.length + only.length + 8 < width)
    return [`    ${color.dim(name)}: ${only}`];
  const shown = isFull ? lines : lines.slice(0, SHOWN_LINES);
  const left = lines.length - shown.length;
  return [
    `    ${color.dim(name)}:`,
    ...shown.map((line) => `${INDENT}${line}`.trimEnd()),
    ...(left === 0 ? [] : [`${INDENT}${color.dim(`… ${count(left)} more lines (--full)`)}`]),
  ];
}

/** The text of one or more blocks; anything else as JSON. */
function plainText(value: unknown): string {
  if (typeof value === "string") return value;
  // A tool may have returned nothing.
  if (value === undefined) return "";
  if (Array.isArray(value)) return value.map(plainText).join("\n");
  const { type, text, source } = (value ?? {}) as { type?: string; text?: unknown; source?: unknown };
  if (typeof text === "string") return text;
  return source === undefined ? JSON.stringify(value) : oneLine(`(${type ?? "data"})`, 40);
}
