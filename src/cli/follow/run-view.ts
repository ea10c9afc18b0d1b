import type { LoggedEvent, Preview } from "../../core/events/events.ts";
import { cost } from "./cost.ts";
import { decidedInput } from "./decided-input.ts";
import { HeardText } from "./resumed-text.ts";
import { noticeOf } from "./notices.ts";
import { colour, columns, count, oneLine, duration, shortId } from "../terminal/text.ts";
import { EscapedPieces, escapeHidden } from "../../words/hidden-text.ts";

interface ShownCall {
  readonly line: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly at: number;
  readonly depth: number;
}

/** What a turn looks like in a terminal: text as it comes, one quiet line per tool call, the cost at the end. */
export class RunView {
  readonly #out: NodeJS.WriteStream;
  readonly #calls = new Map<string, ShownCall>();
  /** Messages whose text was streamed, so that the final event is not printed again. */
  readonly #streamed = new Set<string>();
  readonly #texts = new Map<string, { readonly heard: HeardText; readonly pieces: EscapedPieces }>();
  #atLineStart = true;
  /** What was printed last; a blank line sets an answer off from the calls before it, and a prompt from what was before. */
  #last: "nothing" | "text" | "call" = "nothing";
  #tokens = { in: 0, out: 0 };
  #usd = 0;
  #unpricedRequests = 0;
  readonly #startedAt = Date.now();
  #spinner: NodeJS.Timeout | undefined;
  /** The same is told once. */
  readonly #told = new Set<string>();
  /** What happens while a question is on the screen, to be shown after it. */
  #held: (LoggedEvent | Preview)[] | undefined;

  readonly #users: boolean;
  readonly #rehearsal: boolean;

  /** `users`: show what users said as well, for a session that is read from its log. */
  constructor(
    out: NodeJS.WriteStream,
    { users = false, rehearsal = false }: { users?: boolean; rehearsal?: boolean } = {},
  ) {
    this.#out = out;
    this.#users = users;
    this.#rehearsal = rehearsal;
  }

  /** Leaves the screen to somebody else until `release`. */
  hold(): void {
    this.#stopSpinner();
    this.#newLine();
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const item of held) this.show(item);
  }

  show(item: LoggedEvent | Preview): void {
    if (this.#held !== undefined) {
      this.#held.push(item);
      return;
    }
    this.#stopSpinner();
    this.#notice(item);
    switch (item.type) {
      case "event_start":
        if (item.event.type === "agent.message") this.#begin(item.event.id);
        break;
      case "event_delta":
        this.#piece(item.event_id, item.delta.content.text);
        break;
      case "capstan.event_withdrawn":
        if (this.#streamed.has(item.event_id)) this.#line(colour.dim("(cut off; asked again)"));
        break;
      case "user.message":
        if (this.#users) this.#prompt(escapeHidden(textIn(item)));
        break;
      case "agent.message":
        this.#message(item);
        break;
      case "agent.tool_use":
      case "agent.mcp_tool_use":
      case "agent.custom_tool_use":
        this.#calls.set(item.call_id, {
          line: `${item.name} ${describe(item.input)}`,
          input: item.input,
          at: Date.parse(item.processed_at),
          depth: item.session_thread_id == null ? 0 : 1,
        });
        break;
      case "capstan.permission_decided":
        this.#edited(item);
        break;
      case "agent.tool_result":
      case "agent.mcp_tool_result":
      case "user.custom_tool_result":
        this.#outcome(item);
        break;
      case "session.error":
        if (this.#users || item.error.retry_status.type === "retrying")
          // Only the mark has a colour: a sentence in yellow cannot be read on a light ground.
          this.#line(`${colour.yellow("!")} ${escapeHidden(item.error.message)}`);
        break;
      case "agent.thread_context_compacted":
        this.#line(colour.dim("  (the context was compacted)"));
        break;
      case "span.model_request_end":
        this.#tokens.in +=
          item.model_usage.input_tokens +
          item.model_usage.cache_read_input_tokens +
          item.model_usage.cache_creation_input_tokens;
        this.#tokens.out += item.model_usage.output_tokens;
        this.#usd += item.usd ?? 0;
        if (item.usd === null) this.#unpricedRequests += 1;
        break;
      default:
        break;
    }
    if (item.type !== "session.status_idle") this.#spin();
  }

  /** The closing lines: what became of files, what it cost, how long it took, and the name to go on by. */
  close(sessionId: string, files?: string): void {
    this.#stopSpinner();
    this.#newLine();
    const { in: read, out: written } = this.#tokens;
    const took = this.#users ? "" : `${duration(Date.now() - this.#startedAt)} · `;
    const spent = cost({ usd: this.#usd, unpricedRequests: this.#unpricedRequests });
    this.#out.write(
      colour.dim(
        `\n${files === undefined ? "" : `${files}\n`}${spent}${this.#rehearsal ? " (rehearsal)" : ""} · ${count(read)} tokens in, ${count(written)} out · ${took}session ${shortId(sessionId)}\n`,
      ),
    );
  }

  /** Beside what the agent does; where a session is read from its log, in its place. */
  #notice(item: LoggedEvent | Preview): void {
    const text = noticeOf(item);
    if (text === undefined || this.#told.has(text)) return;
    this.#told.add(text);
    if (this.#users) return this.#line(`${colour.yellow("!")} ${text}`);
    this.#newLine();
    process.stderr.write(`capstan: ${text}\n`);
  }

  #begin(id: string): void {
    const text = this.#texts.get(id) ?? { heard: new HeardText(), pieces: new EscapedPieces() };
    text.heard.restart();
    this.#texts.set(id, text);
  }

  #piece(id: string, piece: string): void {
    const text = this.#texts.get(id);
    const fresh = text?.heard.take(piece) ?? "";
    if (text === undefined || fresh === "") return;
    this.#streamed.add(id);
    this.#text(text.pieces.push(fresh));
  }

  #message(event: Extract<LoggedEvent, { type: "agent.message" }>): void {
    // A subagent reports to its agent; what it says on the way would only be in between.
    if (event.session_thread_id != null) return;
    if (this.#streamed.has(event.id)) this.#write(this.#texts.get(event.id)?.pieces.end() ?? "");
    else for (const block of event.content) if (block.type === "text") this.#text(escapeHidden(block.text));
    this.#newLine();
  }

  /** A person may have changed what runs; an answered question only has its answers added. */
  #edited(event: Extract<LoggedEvent, { type: "capstan.permission_decided" }>): void {
    const { call_id: id, tool } = event;
    const call = this.#calls.get(id);
    const input = call && decidedInput(call.input, event);
    if (call !== undefined && input !== undefined) this.#calls.set(id, { ...call, line: `${tool} ${describe(input)}` });
  }

  #outcome(event: ToolResult): void {
    const { call_id: callId = "", outcome = "completed", processed_at: at } = event;
    const call = this.#calls.get(callId);
    if (call === undefined) return;
    this.#calls.delete(callId);
    this.#last = "call";
    const took = duration(Date.parse(at ?? "") - call.at);
    const failed = outcome !== "completed";
    const note = failed ? `${outcome} ` : "";
    const indent = "  ".repeat(call.depth);
    const room = columns(this.#out) - indent.length - note.length - took.length - 5;
    const mark = failed ? colour.red("✗") : colour.green("✓");
    this.#line(`${indent}${mark} ${colour.dim(oneLine(call.line, room))} ${colour.red(note)}${colour.dim(took)}`);
    // Not dim: it is what the reader has to do something about.
    if (outcome === "failed" || outcome === "denied")
      this.#line(`${indent}  ${oneLine(reasonIn(event), columns(this.#out) - 4)}`);
    const output = "whole_output" in event ? event.whole_output : undefined;
    if (this.#users && output?.hash !== undefined)
      this.#line(
        colour.dim(`${indent}  ${count(output.total)} bytes of output: --output ${callId.slice(-8)} prints them`),
      );
  }

  #prompt(text: string): void {
    this.#newLine();
    if (this.#last !== "nothing") this.#write("\n");
    this.#last = "text";
    this.#line(colour.bold(`> ${text}`));
  }

  #text(text: string): void {
    if (this.#last === "call") this.#write("\n");
    this.#last = "text";
    this.#write(text);
  }

  #write(text: string): void {
    this.#out.write(text);
    if (text !== "") this.#atLineStart = text.endsWith("\n");
  }

  #newLine(): void {
    if (!this.#atLineStart) this.#write("\n");
  }

  #line(text: string): void {
    this.#newLine();
    this.#write(`${text}\n`);
  }

  /** A sign of life while nothing is printed; only on a terminal. */
  #spin(): void {
    if (!this.#out.isTTY || !this.#atLineStart) return;
    let frame = 0;
    this.#spinner = setInterval(() => {
      const running = [...this.#calls.values()].at(-1);
      const what = running === undefined ? "thinking" : oneLine(running.line, columns(this.#out) - 6);
      this.#out.write(`\r${colour.dim(`${"|/-\\"[frame % 4]} ${what}`)}\u001B[K`);
      frame += 1;
    }, 120);
    this.#spinner.unref();
  }

  #stopSpinner(): void {
    if (this.#spinner === undefined) return;
    clearInterval(this.#spinner);
    this.#spinner = undefined;
    this.#out.write("\r\u001B[K");
  }
}

export type ToolResult = Extract<
  LoggedEvent,
  { type: "agent.tool_result" | "agent.mcp_tool_result" | "user.custom_tool_result" }
>;

/** The one thing of an input that tells most. */
export function describe(input: Readonly<Record<string, unknown>>): string {
  for (const key of ["command", "file_path", "pattern", "description", "url", "query", "path"])
    if (typeof input[key] === "string") return input[key];
  const [first] = Array.isArray(input["questions"]) ? (input["questions"] as { question?: unknown }[]) : [];
  if (typeof first?.question === "string") return first.question;
  return Object.keys(input).length === 0 ? "" : JSON.stringify(input);
}

export function textIn(event: { readonly content?: readonly { type: string; text?: string }[] | undefined }): string {
  return (event.content ?? []).map((block) => block.text ?? "").join(" ");
}

/** Without the words that the engine puts before the reason of a denial. */
export function reasonIn(event: Parameters<typeof textIn>[0]): string {
  return textIn(event).replace(/^PreToolUse:\w+ hook error: /, "");
}
