import type { LoggedEvent, Preview } from "../core/events.ts";
import { colour, columns, count, money, oneLine, printable, seconds, shortId } from "./text.ts";

/** What a turn looks like in a terminal: text as it comes, one quiet line per tool call, the cost at the end. */
export class RunView {
  readonly #out: NodeJS.WriteStream;
  readonly #calls = new Map<string, { readonly line: string; readonly at: number; readonly depth: number }>();
  /** Messages whose text was streamed, so that the final event is not printed again. */
  readonly #streamed = new Set<string>();
  #texts = new Set<string>();
  #atLineStart = true;
  #tokens = { in: 0, out: 0 };
  #usd = 0;
  readonly #startedAt = Date.now();
  #spinner: NodeJS.Timeout | undefined;

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

  show(item: LoggedEvent | Preview): void {
    this.#stopSpinner();
    switch (item.type) {
      case "event_start":
        if (item.event.type === "agent.message") this.#texts.add(item.event.id);
        break;
      case "event_delta":
        if (!this.#texts.has(item.event_id)) break;
        this.#streamed.add(item.event_id);
        this.#write(printable(item.delta.content.text));
        break;
      case "capstan.event_withdrawn":
        if (this.#streamed.has(item.event_id)) this.#line(colour.dim("(cut off; asked again)"));
        break;
      case "user.message":
        if (this.#users) this.#line(colour.bold(`> ${printable(textIn(item))}`));
        break;
      case "agent.message":
        this.#message(item);
        break;
      case "agent.tool_use":
      case "agent.mcp_tool_use":
        this.#calls.set(item.call_id, {
          line: `${item.name} ${describe(item.input)}`,
          at: Date.parse(item.processed_at),
          depth: item.session_thread_id == null ? 0 : 1,
        });
        break;
      case "agent.tool_result":
      case "agent.mcp_tool_result":
        this.#outcome(item);
        break;
      case "session.error":
        if (this.#users || item.error.retry_status.type === "retrying")
          this.#line(colour.yellow(`  ${item.error.message}`));
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
        break;
      default:
        break;
    }
    if (item.type !== "session.status_idle") this.#spin();
  }

  /** The closing line: what it cost, how long it took, and the name to go on by. */
  close(sessionId: string): void {
    this.#stopSpinner();
    this.#newLine();
    const { in: read, out: written } = this.#tokens;
    const took = this.#users ? "" : `${seconds(Date.now() - this.#startedAt)} · `;
    this.#out.write(
      colour.dim(
        `\n${money(this.#usd)}${this.#rehearsal ? " (rehearsal)" : ""} · ${count(read)} tokens in, ${count(written)} out · ${took}session ${shortId(sessionId)}\n`,
      ),
    );
  }

  #message(event: Extract<LoggedEvent, { type: "agent.message" }>): void {
    // A subagent reports to its agent; what it says on the way would only be in between.
    if (event.session_thread_id != null) return;
    if (!this.#streamed.has(event.id))
      for (const block of event.content) if (block.type === "text") this.#write(printable(block.text));
    this.#newLine();
  }

  #outcome(event: Extract<LoggedEvent, { type: "agent.tool_result" | "agent.mcp_tool_result" }>): void {
    const call = this.#calls.get(event.call_id);
    if (call === undefined) return;
    this.#calls.delete(event.call_id);
    const took = seconds(Date.parse(event.processed_at) - call.at);
    const failed = event.outcome !== "completed";
    const note = failed ? `${event.outcome} ` : "";
    const indent = "  ".repeat(call.depth);
    const room = columns(this.#out) - indent.length - note.length - took.length - 5;
    const mark = failed ? colour.red("✗") : colour.green("✓");
    this.#line(`${indent}${mark} ${colour.dim(oneLine(call.line, room))} ${colour.red(note)}${colour.dim(took)}`);
    if (event.outcome === "failed" || event.outcome === "denied")
      this.#line(colour.dim(`${indent}  ${oneLine(reasonIn(event, call.line), columns(this.#out) - 4)}`));
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

/** The one thing of an input that tells most. */
function describe(input: Readonly<Record<string, unknown>>): string {
  for (const key of ["command", "file_path", "pattern", "description", "url", "query", "path"])
    if (typeof input[key] === "string") return input[key];
  return Object.keys(input).length === 0 ? "" : JSON.stringify(input);
}

function textIn(event: { readonly content?: readonly { type: string; text?: string }[] | undefined }): string {
  return (event.content ?? []).map((block) => block.text ?? "").join(" ");
}

/** Without the words that the engine puts before the reason of a denial, and with what can be done about it. */
function reasonIn(event: Parameters<typeof textIn>[0], call: string): string {
  const reason = textIn(event).replace(/^PreToolUse:\w+ hook error: /, "");
  const unasked = reason.replace(/ Nobody is there to ask.*$/s, "");
  return unasked === reason ? reason : `${unasked} Allow it with --allow ${call.split(" ")[0] ?? ""}.`;
}
