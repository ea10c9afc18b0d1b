import { setTimeout as sleep } from "node:timers/promises";
import type { StopReason } from "../../core/events/events.ts";
import { DEFAULT_ENGINE } from "../../core/agent/engine-name.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import type { MessageContent } from "../../core/events/content.ts";
import { inTurn } from "../../core/session/state.ts";
import type { Asking } from "../ask/ask.ts";
import type { ChatHost, ChatSession, Wanted } from "./host/host.ts";
import { Page } from "./view/page.ts";
import { ChatView } from "./view/view.ts";

/** Where a chat is shown: a terminal or a pipe. */
export interface ChatUi {
  readonly width: () => number;
  readonly isPlain: boolean;
  print(lines: readonly string[]): void;
  /** Shows changes that are not printed yet. */
  redraw(): void;
  /** Shows a status text until the next call; "" removes it. */
  progress(text: string): void;
}

/** How long to wait for a turn to end after its last message. */
const SETTLE_MS = 3_000;

/** A person's side of a session: sends messages and shows what happens. Can switch sessions. */
export class Chat {
  readonly host: ChatHost;
  readonly asking: Asking;
  readonly page: Page;
  readonly #ui: ChatUi;
  /** Aborts when the chat is over. */
  readonly #leaving = new AbortController();
  #view: ChatView;
  #session: ChatSession | undefined;
  #opening: Promise<ChatSession> | undefined;
  /** Stops following the session. */
  #following = new AbortController();
  /** The last event that was shown. */
  #lastSeq = 0;
  #isAsking = false;
  #isPrepared = false;
  /** Called when a turn ends. */
  onIdle: (reason: StopReason) => void = () => {};
  /** Resolves with the next event. */
  #moved = Promise.withResolvers<void>();

  constructor(host: ChatHost, asking: Asking, ui: ChatUi) {
    this.host = host;
    this.asking = asking;
    this.#ui = ui;
    this.page = new Page({ print: (lines) => ui.print(lines), width: ui.width });
    this.#view = this.#newView();
  }

  get view(): ChatView {
    return this.#view;
  }

  /** Undefined until the first message. */
  get session(): ChatSession | undefined {
    return this.#session;
  }

  get isOver(): boolean {
    return this.#leaving.signal.aborted;
  }

  /** Whether a turn has started and not ended. */
  get isInTurn(): boolean {
    return inTurn(this.#view.state);
  }

  /** Whether the turn waits for an answer. */
  get isWaiting(): boolean {
    return this.isInTurn && this.#view.state.status === "idle";
  }

  get agent(): ChatHost["agent"] {
    return this.#session?.record.agent ?? this.host.agent;
  }

  get mode(): string {
    return this.#view.state.mode ?? this.agent?.permissions.mode ?? "normal";
  }

  /** The engine of the next turn. */
  get engine(): string {
    const { engine, nextEngine } = this.#view.state;
    return nextEngine ?? engine ?? this.agent?.engine ?? DEFAULT_ENGINE;
  }

  get model(): string {
    return this.#view.state.model ?? this.agent?.model ?? "";
  }

  get maxUsd(): number | undefined {
    return this.#view.state.budget?.usd ?? this.agent?.budget.usd;
  }

  /** Switches to another session. */
  switchTo(wanted: Wanted): Promise<ChatSession> {
    // The history of a fork is already on the screen.
    const isSeen = wanted.kind === "fork" && wanted.id === this.#session?.id;
    return this.#whileOpening(async () => {
      const session = await this.#open(wanted);
      await this.release();
      return this.#attach(session, { isSeen });
    });
  }

  /** The current session; starts one if there is none. */
  async require(): Promise<ChatSession> {
    if (this.#opening !== undefined) return this.#opening;
    if (this.#session !== undefined) return this.#session;
    return this.#whileOpening(async () => this.#attach(await this.#open({ kind: "new" })));
  }

  /** Starts a session ahead of the first message, which reports any failure. */
  prepare(): void {
    if (this.#isPrepared || this.#session !== undefined) return;
    this.#isPrepared = true;
    this.require().catch(() => {});
  }

  async say(content: string | MessageContent): Promise<void> {
    const session = await this.require();
    await (this.#following.signal.aborted ? await this.#reopen(session) : session).post(content);
  }

  async interrupt(): Promise<void> {
    if (this.isInTurn) await this.#session?.interrupt();
  }

  /** Waits for a turn that is about to end. Resolves to whether no turn is running. */
  async waitUntilIdle(): Promise<boolean> {
    const until = performance.now() + SETTLE_MS;
    while (this.isInTurn && !this.isWaiting && this.#view.isEnding) {
      const rest = until - performance.now();
      if (rest <= 0) break;
      await Promise.race([this.#moved.promise, sleep(rest, undefined, { ref: false })]);
    }
    return !this.isInTurn;
  }

  /** Asks the person about the session's pending approvals. */
  async ask(): Promise<void> {
    const session = this.#session;
    if (session === undefined || this.#isAsking) return;
    this.#isAsking = true;
    try {
      await this.asking.askPending(session.id, AbortSignal.any([this.#leaving.signal, this.#following.signal]));
    } catch (thrown) {
      this.report(thrown);
    } finally {
      this.#isAsking = false;
    }
  }

  /** Shows an error. */
  report(thrown: unknown): void {
    this.page.mark(messageOf(thrown));
    // Errors without a code are bugs.
    const isKnown = thrown instanceof CapstanError || (thrown as NodeJS.ErrnoException | undefined)?.code !== undefined;
    if (!isKnown) this.page.quiet("This is a bug. Please report it.");
  }

  /** Leaves the session. The next message starts another one. */
  async release(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    this.#isPrepared = false;
    this.#following.abort();
    this.#view = this.#newView();
    await session?.leave();
  }

  /** Ends the chat. The session remains; a local turn ends with the host. */
  leave(): void {
    this.#leaving.abort();
    this.#following.abort();
  }

  /** Concurrent requests for a session wait for this one. */
  #whileOpening(open: () => Promise<ChatSession>): Promise<ChatSession> {
    const opening = open().finally(() => {
      if (this.#opening === opening) this.#opening = undefined;
    });
    this.#opening = opening;
    return opening;
  }

  #newView(): ChatView {
    return new ChatView(this.page, { isPlain: this.#ui.isPlain });
  }

  #open(wanted: Wanted): Promise<ChatSession> {
    return this.host
      .open(wanted, {
        asking: this.asking,
        signal: this.#leaving.signal,
        onProgress: (text) => this.#ui.progress(text),
        onTrouble: (text) => this.#ui.progress(text),
      })
      .finally(() => this.#ui.progress(""));
  }

  /** Shows the last turn of a session, then follows it. */
  async #attach(session: ChatSession, { isSeen = false }: { readonly isSeen?: boolean } = {}): Promise<ChatSession> {
    const log = await this.host.read(session.id);
    const said = isSeen ? log.length : log.findLastIndex(({ type }) => type === "user.message");
    this.#session = session;
    for (const note of session.notes) this.page.mark(note);
    for (const [index, event] of log.entries())
      if (index < said) this.#view.pass(event);
      else this.#view.show(event);
    this.#follow(session, log.at(-1)?.seq ?? 0);
    if (this.isWaiting) void this.ask();
    return session;
  }

  /** Resumes a session that was lost. */
  async #reopen({ id }: ChatSession): Promise<ChatSession> {
    const session = await this.#open({ kind: "resume", id });
    this.#session = session;
    this.#follow(session, this.#lastSeq);
    return session;
  }

  #follow(session: ChatSession, after: number): void {
    const following = new AbortController();
    this.#following = following;
    this.#lastSeq = after;
    const signal = AbortSignal.any([following.signal, this.#leaving.signal]);
    void this.#show(session, after, signal)
      .then(
        () => "Another process took over or ended this session.",
        (thrown: unknown) => messageOf(thrown),
      )
      .then((why) => {
        if (!signal.aborted) this.#reportLoss(session, why);
        return following.abort();
      });
  }

  async #show(session: ChatSession, after: number, signal: AbortSignal): Promise<void> {
    for await (const item of session.events({ after, signal })) {
      if (signal.aborted) return;
      this.#ui.progress("");
      if ("seq" in item) this.#lastSeq = item.seq;
      this.#view.show(item);
      if (item.type === "capstan.approval_requested") this.asking.markSeen(item.approval_id);
      this.#moved.resolve();
      this.#moved = Promise.withResolvers();
      if (item.type === "session.status_idle") {
        if (item.stop_reason.type === "requires_action") void this.ask();
        this.onIdle(item.stop_reason);
      }
      this.#ui.redraw();
    }
  }

  #reportLoss({ id }: ChatSession, why: string): void {
    this.#ui.progress("");
    this.page.mark(`${why} Session ${id.slice(-8)} is saved. Send a message to reconnect, or /quit.`);
    this.onIdle({ type: "retries_exhausted" });
  }
}
