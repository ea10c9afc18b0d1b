import type { LoggedEvent, Preview } from "../../core/events/events.ts";
import { costText } from "./cost.ts";
import { decidedInput } from "./decided-input.ts";
import { ResumedText } from "./resumed-text.ts";
import { noticeOf } from "./notices.ts";
import { color, columns, count, oneLine, duration, shortId } from "../terminal/text.ts";
import { EscapedPieces, escapeHidden } from "../../words/hidden-text.ts";

interface ShownCall {
  readonly line: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly at: number;
  readonly depth: number;
}

/** Shows a turn in a terminal: text as it streams in, one line per tool call, the cost at the end. */
export class RunView {
  readonly #out: NodeJS.WriteStream;
  readonly #calls = new Map<string, ShownCall>();
  /** Messages whose text was streamed, so that the final event is not printed again. */
  readonly #streamed = new Set<string>();
  readonly #texts = new Map<string, { readonly heard: ResumedText; readonly pieces: EscapedPieces }>();
  #atLineStart = true;
  /** What was printed last, to place blank lines between calls, answers and prompts. */
  #last: "nothing" | "text" | "call" = "nothing";
  #tokens = { in: 0, out: 0 };
  #usd = 0;
  #unpricedRequests = 0;
  readonly #startedAt = Date.now();
  #spinner: NodeJS.Timeout | undefined;
  /** Each notice is printed once. */
  readonly #noticed = new Set<string>();
  /** Items that arrive while a question is on the screen; shown after it. */
  #held: (LoggedEvent | Preview)[] | undefined;

  readonly #users: boolean;
  readonly #rehearsal: boolean;

  /** `users`: also show the users' messages, for a session that is read from its log. */
  constructor(
    out: NodeJS.WriteStream,
    { users = false, rehearsal = false }: { users?: boolean; rehearsal?: boolean } = {},
  ) {
    this.#out = out;
    this.#users = users;
    this.#rehearsal = rehearsal;
  }

  /** Stops printing until `release`, so that a question can use the screen. */
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
        if (this.#streamed.has(item.event_id)) this.#line(color.dim("(interrupted; retrying)"));
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
        this.#applyDecision(item);
        break;
      case "agent.tool_result":
      case "agent.mcp_tool_result":
      case "user.custom_tool_result":
        this.#outcome(item);
        break;
      case "session.error":
        if (this.#users || item.error.retry_status.type === "retrying")
          // Only the mark is colored: yellow text is unreadable on a light background.
          this.#line(`${color.yellow("!")} ${escapeHidden(item.error.message)}`);
        break;
      case "agent.thread_context_compacted":
        this.#line(color.dim("  (context compacted)"));
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

  /** Prints the closing lines: changed files, cost, duration and the session id. */
  close(sessionId: string, files?: string): void {
    this.#stopSpinner();
    this.#newLine();
    const { in: read, out: written } = this.#tokens;
    const took = this.#users ? "" : `${duration(Date.now() - this.#startedAt)} · `;
    const spent = costText({ usd: this.#usd, unpricedRequests: this.#unpricedRequests });
    this.#out.write(
      color.dim(
        `\n${files === undefined ? "" : `${files}\n`}${spent}${this.#rehearsal ? " (rehearsal)" : ""} · ${count(read)} tokens in, ${count(written)} out · ${took}session ${shortId(sessionId)}\n`,
      ),
    );
  }

  /** Goes to standard error; for a session that is read from its log, in line with the events. */
  #notice(item: LoggedEvent | Preview): void {
    const text = noticeOf(item);
    if (text === undefined || this.#noticed.has(text)) return;
    this.#noticed.add(text);
    if (this.#users) return this.#line(`${color.yellow("!")} ${text}`);
    this.#newLine();
    process.stderr.write(`capstan: ${text}\n`);
  }

  #begin(id: string): void {
    const text = this.#texts.get(id) ?? { heard: new ResumedText(), pieces: new EscapedPieces() };
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
    // Messages of subagents go to their agent, and would interrupt its text.
    if (event.session_thread_id != null) return;
    if (this.#streamed.has(event.id)) this.#write(this.#texts.get(event.id)?.pieces.end() ?? "");
    else for (const block of event.content) if (block.type === "text") this.#text(escapeHidden(block.text));
    this.#newLine();
  }

  /** A person may have edited the input. */
  #applyDecision(event: Extract<LoggedEvent, { type: "capstan.permission_decided" }>): void {
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
    const mark = failed ? color.red("✗") : color.green("✓");
    this.#line(`${indent}${mark} ${color.dim(oneLine(call.line, room))} ${color.red(note)}${color.dim(took)}`);
    // Not dim, because the reader may have to act on it.
    if (outcome === "failed" || outcome === "denied")
      this.#line(`${indent}  ${oneLine(reasonIn(event), columns(this.#out) - 4)}`);
    const output = "whole_output" in event ? event.whole_output : undefined;
    if (this.#users && output?.hash !== undefined)
      this.#line(
        color.dim(`${indent}  ${count(output.total)} bytes of output. To print them: --output ${callId.slice(-8)}`),
      );
  }

  #prompt(text: string): void {
    this.#newLine();
    if (this.#last !== "nothing") this.#write("\n");
    this.#last = "text";
    this.#line(color.bold(`> ${text}`));
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

  /** Shows activity while nothing is printed; only on a terminal. */
  #spin(): void {
    if (!this.#out.isTTY || !this.#atLineStart) return;
    let frame = 0;
    this.#spinner = setInterval(() => {
      const running = [...this.#calls.values()].at(-1);
      const what = running === undefined ? "thinking" : oneLine(running.line, columns(this.#out) - 6);
      this.#out.write(`\r${color.dim(`${"|/-\\"[frame % 4]} ${what}`)}\u001B[K`);
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

/** The most informative field of an input. */
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

/** Removes the engine's prefix from the reason of a denial. */
export function reasonIn(event: Parameters<typeof textIn>[0]): string {
  return textIn(event).replace(/^PreToolUse:\w+ hook error: /, "");
}
