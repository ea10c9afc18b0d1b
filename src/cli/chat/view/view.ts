import { limitText } from "../../../core/session/session-limits.ts";
import type { EventOf, LoggedEvent, Preview } from "../../../core/events/events.ts";
import { initialState, inTurn, reduce, type SessionState } from "../../../core/session/state.ts";
import { HeardText } from "../../follow/resumed-text.ts";
import { noticeOf } from "../../follow/notices.ts";
import { colour, oneLine } from "../../terminal/text.ts";
import { Calls, type RunningOptions } from "./calls.ts";
import { shownText } from "./markdown.ts";
import { errorText, messageText } from "./event-text.ts";
import { Meter } from "./meter.ts";
import type { Page } from "./page.ts";
import { StreamedText } from "./streamed-text.ts";

/** A session as a chat shows it: what is finished is printed, the rest can be asked for. Knows no terminal. */
export class ChatView {
  readonly calls = new Calls();
  readonly meter = new Meter();
  readonly #page: Page;
  readonly #isPlain: boolean;
  #state: SessionState = initialState;
  #text: { readonly id: string; readonly streamed: StreamedText; readonly heard: HeardText } | undefined;
  /** Messages that are stored, and that the model has not got yet. */
  readonly #queued = new Map<string, string>();
  #told = new Set<string>();
  /** What is said of the turn when it is over. */
  #atEnd: string[] = [];
  /** Why the agent's process was lost last, so that it is not told twice. */
  #lost: string | undefined;
  #isThinking = false;
  #isEnding = false;

  /** `isPlain`: what the model says is shown as it is, and only when it is said; for programs that read it. */
  constructor(page: Page, { isPlain = false }: { readonly isPlain?: boolean } = {}) {
    this.#page = page;
    this.#isPlain = isPlain;
  }

  /** Everything that the log said so far. */
  get state(): SessionState {
    return this.#state;
  }

  /** How many messages wait. */
  get waiting(): number {
    return this.#queued.size;
  }

  /** The model has said, or is saying, what may be its last words in this turn; or the turn was interrupted. */
  get isEnding(): boolean {
    return this.#isEnding || this.#text !== undefined;
  }

  /** One line for each message that waits. After an interrupt it waits until something else is said. */
  queued(width: number): readonly string[] {
    const waits = width < 60 ? "waits" : "goes with your next message";
    const until = inTurn(this.#state) ? "queued" : waits;
    return [...this.#queued.values()].map((text) =>
      colour.dim(`» ${oneLine(text, Math.max(4, width - until.length - 6))} (${until})`),
    );
  }

  /** What the model is just saying, as far as it is not printed. */
  tail(width: number): readonly string[] {
    if (this.#text === undefined) return [];
    const lines = this.#text.streamed.tail(width);
    return lines.length > 0 && lines[0] !== "" && this.#page.isApart("text") ? ["", ...lines] : lines;
  }

  /** What is going on besides: the calls that run, or that the model is at work. `isTalking`: there is a tail. */
  work({ isTalking, ...options }: RunningOptions & { readonly isTalking: boolean }): readonly string[] {
    // A call that a person is asked about does not run.
    const calls = this.#state.status === "idle" ? [] : this.calls.running(options);
    const isSilent = calls.length === 0 && inTurn(this.#state) && !isTalking;
    const lines = isSilent ? [this.#sign(options.mark)] : calls;
    return lines.length > 0 && (isTalking || this.#page.isApart("call")) ? ["", ...lines] : lines;
  }

  /** Takes an event into account without showing it: it was before what is to be seen. */
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
        if (this.#text?.id === item.event.id) this.#text.heard.restart();
        else if (item.event.type === "agent.message" && !this.#isPlain) this.#begin(item.event.id);
        break;
      case "event_delta":
        if (this.#text?.id === item.event_id)
          this.#text.streamed.append(this.#text.heard.take(item.delta.content.text));
        break;
      case "capstan.event_withdrawn":
        this.#withdraw(item.event_id);
        break;
      case "user.message":
        if (!wasInTurn) this.calls.forget();
        // One that waited through an interrupt goes first.
        if (wasInTurn || this.#queued.size > 0) this.#queued.set(item.id, messageText(item));
        else this.#page.prompt(messageText(item));
        break;
      case "capstan.input_delivered":
        for (const id of item.event_ids) this.#delivered(id);
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
        this.calls.decided(item);
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
        if ("seq" in item) this.#tellOf(item);
    }
  }

  /** Prints what is finished of the text that streams in. To be called before each frame. */
  settle(): void {
    if (this.#text !== undefined) this.#page.block("text", this.#text.streamed.takeFinished(this.#page.width));
  }

  /** Lets the calls of the last turn be seen with their inputs and results, and those that follow; or no more. */
  unfold(): void {
    this.calls.isUnfolded = !this.calls.isUnfolded;
    if (!this.calls.isUnfolded) return this.#page.quiet("Tool calls are folded again.");
    const lines = this.calls.unfolded(this.#page.width);
    this.#page.quiet(`Tool calls are shown with what they were given and returned. Ctrl-O folds them again.`);
    this.#page.block("call", lines);
  }

  #begin(id: string): void {
    this.#endText();
    this.#text = { id, streamed: new StreamedText(), heard: new HeardText() };
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
    this.#page.quiet("(cut off; asked again)");
  }

  /** What was not streamed, or came otherwise than it was announced, is printed now. */
  #message(event: EventOf<"agent.message">): void {
    // A subagent reports to its agent; what it says on the way would only be in between.
    if (event.session_thread_id != null) return;
    const text = event.content.map((block) => (block.type === "text" ? block.text : "[redacted]")).join("");
    if (this.#isPlain) return this.#page.block("text", shownText(text).trimEnd().split("\n"));
    const said = this.#text?.id === event.id ? this.#text.streamed.said : "";
    if (this.#text?.id === event.id && text.startsWith(said)) this.#text.streamed.append(text.slice(said.length));
    else {
      this.#begin(event.id);
      this.#text?.streamed.append(text);
    }
    this.#endText();
  }

  #delivered(id: string): void {
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
    if (output !== undefined) this.#page.block("note", shownText(JSON.stringify(output, null, 2)).split("\n"));
    if (reason.type === "refusal")
      this.#page.note("The model refused. Say it in another way, or ask for something else.");
  }

  #tellOf(event: LoggedEvent): void {
    switch (event.type) {
      case "user.interrupt":
        // What was said until then is yet to be stored.
        this.#atEnd.push("Interrupted. What was done so far is kept.");
        return;
      case "session.error":
        this.#endText();
        if (event.error.message === this.#lost) return;
        // Why the turn failed says more than why its process did.
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
        if (event.session_thread_id == null) this.#page.quiet("The model goes on from a summary of what was said.");
        return;
      case "capstan.mode_changed":
        return this.#page.quiet(`The mode is now ${event.mode}.`);
      case "capstan.model_changed":
        return this.#page.quiet(`The model is now ${shownText(event.model)}.`);
      case "capstan.engine_changed":
        return this.#page.quiet(`The engine is ${shownText(event.engine)} from the next turn on.`);
      case "session.status_terminated":
        return this.#page.mark("This session is over. /clear begins another.");
      default:
        return;
    }
  }

  #notice(item: LoggedEvent | Preview): void {
    const text = noticeOf(item);
    if (text === undefined || this.#told.has(text)) return;
    // A rewind may happen again, and is told again.
    if (item.type !== "capstan.rewound") this.#told.add(text);
    this.#page.mark(text);
  }

  #sign(mark: string): string {
    if (this.#state.status === "idle") return colour.dim("waiting for an answer: /answer");
    if (this.#state.status === "rescheduling") return `${mark} ${colour.dim("paused: waiting for another credential")}`;
    return `${mark} ${colour.dim(this.#isThinking ? "thinking" : "working")}`;
  }
}

/** Whether a turn is about to end with this; undefined when it says nothing of that. */
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
