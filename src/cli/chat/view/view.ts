import { limitText } from "../../../core/session/session-limits.ts";
import type { EventOf, LoggedEvent, Preview } from "../../../core/events/events.ts";
import { initialState, inTurn, reduce, type SessionState } from "../../../core/session/state.ts";
import { ResumedText } from "../../follow/resumed-text.ts";
import { noticeOf } from "../../follow/notices.ts";
import { color, oneLine } from "../../terminal/text.ts";
import { Calls, type RunningOptions } from "./calls.ts";
import { printableMarkdown } from "./markdown.ts";
import { errorText, messageText } from "./event-text.ts";
import { Meter } from "./meter.ts";
import type { Page } from "./page.ts";
import { StreamedText } from "./streamed-text.ts";

/** Shows a session in a chat: prints what is finished, and provides the live parts. Independent of the terminal. */
export class ChatView {
  readonly calls = new Calls();
  readonly meter = new Meter();
  readonly #page: Page;
  readonly #isPlain: boolean;
  #state: SessionState = initialState;
  #text: { readonly id: string; readonly streamed: StreamedText; readonly resumed: ResumedText } | undefined;
  /** Messages that are saved but not delivered to the model yet. */
  readonly #queued = new Map<string, string>();
  #noticed = new Set<string>();
  /** Notes to print at the end of the turn. */
  #atEnd: string[] = [];
  /** Why the agent's process last died, so that it is not reported twice. */
  #lost: string | undefined;
  #isThinking = false;
  #isEnding = false;

  /** `isPlain`: print complete messages without formatting, for programs. */
  constructor(page: Page, { isPlain = false }: { readonly isPlain?: boolean } = {}) {
    this.#page = page;
    this.#isPlain = isPlain;
  }

  /** The session's state so far. */
  get state(): SessionState {
    return this.#state;
  }

  /** Number of queued messages. */
  get waiting(): number {
    return this.#queued.size;
  }

  /** Whether the turn may be about to end: the model is writing a message or has finished, or the turn was interrupted. */
  get isEnding(): boolean {
    return this.#isEnding || this.#text !== undefined;
  }

  /** One line per queued message. After an interrupt, they are sent with the next message. */
  queuedLines(width: number): readonly string[] {
    const waits = width < 60 ? "queued" : "sent with your next message";
    const until = inTurn(this.#state) ? "queued" : waits;
    return [...this.#queued.values()].map((text) =>
      color.dim(`» ${oneLine(text, Math.max(4, width - until.length - 6))} (${until})`),
    );
  }

  /** The part of the streaming message that is not printed yet. */
  tail(width: number): readonly string[] {
    if (this.#text === undefined) return [];
    const lines = this.#text.streamed.tail(width);
    return lines.length > 0 && lines[0] !== "" && this.#page.isApart("text") ? ["", ...lines] : lines;
  }

  /** The running calls, or a sign that the model is working. `isTalking`: there is a tail. */
  work({ isTalking, ...options }: RunningOptions & { readonly isTalking: boolean }): readonly string[] {
    // While a person is asked, no call runs.
    const calls = this.#state.status === "idle" ? [] : this.calls.running(options);
    const isSilent = calls.length === 0 && inTurn(this.#state) && !isTalking;
    const lines = isSilent ? [this.#sign(options.mark)] : calls;
    return lines.length > 0 && (isTalking || this.#page.isApart("call")) ? ["", ...lines] : lines;
  }

  /** Updates the state with an earlier event, without showing it. */
  pass(event: LoggedEvent): void {
    this.#state = reduce(this.#state, event, event.seq);
    this.meter.see(event);
  }

  show(item: LoggedEvent | Preview): void {
    const wasInTurn = inTurn(this.#state);
    if ("seq" in item) this.pass(item);
    this.#isEnding = isEnd(item) ?? this.#isEnding;
    this.#notice(item);
    switch (item.type) {
      case "event_start":
        this.#isThinking = item.event.type === "agent.thinking";
        if (this.#text?.id === item.event.id) this.#text.resumed.restart();
        else if (item.event.type === "agent.message" && !this.#isPlain) this.#begin(item.event.id);
        break;
      case "event_delta":
        if (this.#text?.id === item.event_id)
          this.#text.streamed.append(this.#text.resumed.take(item.delta.content.text));
        break;
      case "capstan.event_withdrawn":
        this.#withdraw(item.event_id);
        break;
      case "user.message":
        if (!wasInTurn) this.calls.forget();
        // Messages queued before an interrupt are delivered first.
        if (wasInTurn || this.#queued.size > 0) this.#queued.set(item.id, messageText(item));
        else this.#page.prompt(messageText(item));
        break;
      case "capstan.input_delivered":
        for (const id of item.event_ids) this.#deliver(id);
        break;
      case "agent.message":
        this.#message(item);
        break;
      case "agent.thinking":
        this.#isThinking = false;
        break;
      case "agent.tool_use":
      case "agent.mcp_tool_use":
      case "agent.custom_tool_use":
        this.calls.start(item, this.#state);
        break;
      case "capstan.permission_decided":
        this.calls.applyDecision(item);
        break;
      case "agent.tool_result":
      case "agent.mcp_tool_result":
      case "user.custom_tool_result":
        this.#page.block("call", this.calls.finish(item, { state: this.#state, width: this.#page.width }));
        break;
      case "session.status_idle":
        this.#idle(item);
        break;
      default:
        if ("seq" in item) this.#showEvent(item);
    }
  }

  /** Prints the finished part of the streaming text. Call before each frame. */
  settle(): void {
    if (this.#text !== undefined) this.#page.block("text", this.#text.streamed.takeFinished(this.#page.width));
  }

  /** Toggles whether calls are shown with their inputs and results. */
  unfold(): void {
    this.calls.isUnfolded = !this.calls.isUnfolded;
    if (!this.calls.isUnfolded) return this.#page.quiet("Tool call details are hidden.");
    const lines = this.calls.lastTurnDetails(this.#page.width);
    this.#page.quiet("Tool call details are shown. Press Ctrl-O to hide them.");
    this.#page.block("call", lines);
  }

  #begin(id: string): void {
    this.#endText();
    this.#text = { id, streamed: new StreamedText(), resumed: new ResumedText() };
  }

  #endText(): void {
    const text = this.#text;
    this.#text = undefined;
    this.#isThinking = false;
    if (text === undefined) return;
    this.#page.block("text", text.streamed.end(this.#page.width));
  }

  #withdraw(id: string): void {
    if (this.#text?.id !== id) return;
    this.#endText();
    this.#page.quiet("(interrupted; retrying)");
  }

  /** Prints what was not streamed, or differs from the stream. */
  #message(event: EventOf<"agent.message">): void {
    // Messages of subagents go to their agent, and would interrupt its text.
    if (event.session_thread_id != null) return;
    const text = event.content.map((block) => (block.type === "text" ? block.text : "[redacted]")).join("");
    if (this.#isPlain) return this.#page.block("text", printableMarkdown(text).trimEnd().split("\n"));
    const said = this.#text?.id === event.id ? this.#text.streamed.said : "";
    if (this.#text?.id === event.id && text.startsWith(said)) this.#text.streamed.append(text.slice(said.length));
    else {
      this.#begin(event.id);
      this.#text?.streamed.append(text);
    }
    this.#endText();
  }

  #deliver(id: string): void {
    const text = this.#queued.get(id);
    if (text === undefined) return;
    this.#queued.delete(id);
    this.#endText();
    this.#page.prompt(text);
  }

  #idle({ stop_reason: reason, output }: EventOf<"session.status_idle">): void {
    this.#endText();
    if (reason.type !== "requires_action") this.#page.block("call", this.calls.end(this.#page.width));
    for (const text of this.#atEnd.splice(0)) this.#page.mark(text);
    if (output !== undefined) this.#page.block("note", printableMarkdown(JSON.stringify(output, null, 2)).split("\n"));
    if (reason.type === "refusal")
      this.#page.note("The model refused the request. Rephrase it, or ask for something else.");
  }

  #showEvent(event: LoggedEvent): void {
    switch (event.type) {
      case "user.interrupt":
        // The text before the interrupt is not saved yet.
        this.#atEnd.push("Interrupted. The work so far is kept.");
        return;
      case "session.error":
        this.#endText();
        if (event.error.message === this.#lost) return;
        // The turn's error is more specific than the process's.
        if (event.error.retry_status.type !== "retrying")
          this.#atEnd = this.#atEnd.filter((text) => text !== this.#lost);
        this.#page.mark(errorText(event));
        return;
      case "capstan.limit_reached":
        return this.#page.mark(limitText(event));
      case "capstan.process_lost":
        this.#lost = event.reason;
        this.#atEnd.push(event.reason);
        return;
      case "agent.thread_context_compacted":
        if (event.session_thread_id == null) this.#page.quiet("Context compacted: the model continues from a summary.");
        return;
      case "capstan.mode_changed":
        return this.#page.quiet(`Mode is now ${event.mode}.`);
      case "capstan.model_changed":
        return this.#page.quiet(`Model is now ${printableMarkdown(event.model)}.`);
      case "capstan.engine_changed":
        return this.#page.quiet(`Engine is ${printableMarkdown(event.engine)} from the next turn on.`);
      case "session.status_terminated":
        return this.#page.mark("This session has ended. To start a new one: /clear");
      default:
        return;
    }
  }

  #notice(item: LoggedEvent | Preview): void {
    const text = noticeOf(item);
    if (text === undefined || this.#noticed.has(text)) return;
    // Repeated rewinds are each reported.
    if (item.type !== "capstan.rewound") this.#noticed.add(text);
    this.#page.mark(text);
  }

  #sign(mark: string): string {
    if (this.#state.status === "idle") return color.dim("waiting for your answer: /answer");
    if (this.#state.status === "rescheduling") return `${mark} ${color.dim("paused: waiting for a new credential")}`;
    return `${mark} ${color.dim(this.#isThinking ? "thinking" : "working")}`;
  }
}

/** Whether this item means that the turn is about to end; undefined if it says nothing about that. */
function isEnd(item: LoggedEvent | Preview): boolean | undefined {
  switch (item.type) {
    case "user.interrupt":
      return true;
    case "span.model_request_start":
      return item.session_thread_id == null ? false : undefined;
    case "span.model_request_end":
      return item.session_thread_id == null ? item.stop_reason === "end_turn" : undefined;
    default:
      return undefined;
  }
}
