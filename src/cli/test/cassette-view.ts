import { DEFAULT_ENGINE } from "../../core/agent/engine-name.ts";
import type { CassetteDifference } from "../../app/record/compare-cassettes.ts";
import type {
  Cassette,
  CassetteExchange,
  CassetteThread,
  RecordedAnswer,
  RecordedNews,
} from "../../core/suite/cassette.ts";
import { alike, othersText } from "./group-differences.ts";
import { wrapped } from "../terminal/text.ts";
import { paintedPatch } from "../workspace/diff-view.ts";
import { colour, count, oneLine } from "../terminal/text.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

export interface CassetteView {
  /** Nothing is cut, and the instructions are shown. */
  readonly isFull: boolean;
  /** In columns. */
  readonly width: number;
}

/** Of a text that is cut. */
const SHOWN_LINES = 8;
const INDENT = "      ";

/** A cassette as a person reads a conversation: what was asked, and what was said. */
export function cassetteText(cassette: Cassette, view: CassetteView): string {
  const { suite, case: name, trial, recorded } = cassette;
  const head = [
    colour.bold(escapeHidden(`${suite}: ${name}${trial === 1 ? "" : `, trial ${trial}`}`)),
    colour.dim(
      escapeHidden(`recorded ${recorded.at} · capstan ${recorded.capstan} · SDK ${recorded.sdk}${engineOf(cassette)}`),
    ),
  ];
  return [head.join("\n"), ...cassette.threads.map((thread) => threadText(thread, cassette, view))].join("\n\n");
}

/** Most are of the engine that there always was. */
function engineOf({ recorded: { engine = DEFAULT_ENGINE } }: Cassette): string {
  return engine === DEFAULT_ENGINE ? "" : ` · engine ${engine}`;
}

export function differencesText(differences: readonly CassetteDifference[]): string {
  return alike(differences)
    .map(({ first: { session, thread, ordinal, summary, diff }, others }) => {
      const title = `${lineOf({ session, thread })}, request ${ordinal}${othersText(others)}: ${summary}`;
      return `${colour.bold(escapeHidden(title))}\n${paintedPatch(escapeHidden(diff.trimEnd()))}`;
    })
    .join("\n\n");
}

/** `main`, a subagent, or a judge. */
function lineOf({ session, thread }: Pick<CassetteThread, "session" | "thread">): string {
  return session === "case" ? thread : thread === "main" ? session : `${session} ${thread}`;
}

function threadText(thread: CassetteThread, { texts }: Cassette, view: CassetteView): string {
  const { exchanges } = thread;
  const side = thread.class === "main" || thread.class === "subagent" ? "" : ` (${thread.class})`;
  const number = exchanges.length === 1 ? "1 request" : `${count(exchanges.length)} requests`;
  const lines = [colour.bold(escapeHidden(`${lineOf(thread)}${side}: ${number}`))];
  let before: CassetteExchange | undefined;
  for (const [index, exchange] of exchanges.entries()) {
    lines.push(...settingsLines(exchange, before, { texts, view }), ...exchangeLines(exchange, index + 1, view));
    before = exchange;
  }
  return lines.join("\n");
}

/** Only where they change: they are the same for most of a thread. */
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
    `  ${colour.dim(`${ordinal}`)}`,
    ...news.flatMap((message) => toldLines(message, view)),
    ...answerLines(answer, view),
  ];
}

const ROLES: Readonly<Record<string, string>> = { user: "user", system: "engine" };

function toldLines({ role, content }: RecordedNews, view: CassetteView): string[] {
  return content.flatMap((block) =>
    block.type === "tool_result"
      ? row(block["is_error"] === true ? "tool failed" : "tool result", plainText(block["content"]), view)
      : row(ROLES[role] ?? role, plainText(block), view),
  );
}

function answerLines(answer: RecordedAnswer, view: CassetteView): string[] {
  if (answer.kind === "error")
    return row(colour.red("model"), `error ${answer.status}: ${JSON.stringify(answer.body)}`, view);
  const { content, stop_reason: reason, usage } = answer.message;
  const end = answer.kind === "cut" ? `broken off by the ${answer.by}` : (reason ?? "no stop reason");
  const tokens = [`${figure(usage["input_tokens"])} in`, `${figure(usage["output_tokens"])} out`];
  return [
    ...content.flatMap((block) => saidLines(block, view)),
    `    ${colour.dim(escapeHidden([end, ...tokens].join(" · ")))}`,
  ];
}

function saidLines(block: RecordedNews["content"][number], view: CassetteView): string[] {
  switch (block.type) {
    case "tool_use":
    case "server_tool_use":
      return row(colour.cyan("calls"), `${String(block["name"])} ${JSON.stringify(block["input"])}`, view);
    case "thinking":
      return row(colour.green("thinks"), String(block["thinking"]), view);
    default:
      return row(colour.green("says"), plainText(block), view);
  }
}

function figure(value: unknown): string {
  return typeof value === "number" ? count(value) : "?";
}

/** A name, and below it the text: as many lines as fit a glance, or all. */
function row(name: string, text: string, { isFull, width }: CassetteView): string[] {
  const lines = escapeHidden(text.trimEnd())
    .split("\n")
    .flatMap((line) => wrapped(line, width - INDENT.length));
  const [only, ...others] = lines;
  if (others.length === 0 && only !== undefined && name.length + only.length + 8 < width)
    return [`    ${colour.dim(name)}: ${only}`];
  const shown = isFull ? lines : lines.slice(0, SHOWN_LINES);
  const left = lines.length - shown.length;
  return [
    `    ${colour.dim(name)}:`,
    ...shown.map((line) => `${INDENT}${line}`.trimEnd()),
    ...(left === 0 ? [] : [`${INDENT}${colour.dim(`… ${count(left)} more lines (--full)`)}`]),
  ];
}

/** The text of a block, of several, or whatever else it is as JSON. */
function plainText(value: unknown): string {
  if (typeof value === "string") return value;
  // A tool may have answered nothing at all.
  if (value === undefined) return "";
  if (Array.isArray(value)) return value.map(plainText).join("\n");
  const { type, text, source } = (value ?? {}) as { type?: string; text?: unknown; source?: unknown };
  if (typeof text === "string") return text;
  return source === undefined ? JSON.stringify(value) : oneLine(`(${type ?? "data"})`, 40);
}
