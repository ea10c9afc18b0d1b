import type { Mode } from "../core/agent-definition.ts";
import { type LimitHit, limitOnTurn } from "../core/budget.ts";
import type { MessageContent } from "../core/content.ts";
import type { EngineFact, TurnEnd } from "../core/engine.ts";
import { CapstanError } from "../core/errors.ts";
import type { EventDraft, Preview, SessionEvent, StoredEvent } from "../core/events.ts";
import type { SessionState } from "../core/state.ts";
import type { SessionRecord } from "../core/store.ts";
import { tellTurnEnd } from "../core/stop-reason.ts";
import { EngineSlot } from "./engine-slot.ts";
import type { FeedItem } from "./feed.ts";
import { inspectCutTurn, settleOpenWork } from "./recovery.ts";
import { checkOutput } from "./output.ts";
import type { SessionDeps } from "./session-deps.ts";
import { ToolCalls } from "./tool-calls.ts";
import { Turn } from "./turn.ts";
import { usageEvent } from "./usage.ts";

/** What is going on between `session.status_running` and `session.status_idle`. */
interface ActiveTurn {
  readonly ended: PromiseWithResolvers<void>;
  interrupted: boolean;
  limit: LimitHit | undefined;
  failure: CapstanError | undefined;
  readonly deadline: number | undefined;
  timer: NodeJS.Timeout | undefined;
}

/**
 * A session in motion. It alone decides what the engine's facts mean for the log: the engine says what happened,
 * and nothing is told to anyone before it is stored.
 */
export class Session<Output = unknown> {
  readonly #deps: SessionDeps;
  readonly #calls: ToolCalls;
  readonly #engine: EngineSlot;
  #turn: ActiveTurn | undefined;
  #closed = false;
  readonly #ending = new AbortController();

  constructor(deps: SessionDeps) {
    this.#deps = deps;
    const { record, log, stateDir, variables, tools } = deps;
    const onLimit = (hit: LimitHit): void => this.#reachLimit(hit);
    this.#calls = new ToolCalls({
      sessionId: record.id,
      log,
      agent: record.agent,
      tools,
      cwd: record.cwd,
      stateDir,
      variables,
      ask: deps.ask,
      mode: () => this.mode,
      deadline: () => this.#turn?.deadline,
      onLimit,
    });
    this.#engine = new EngineSlot(deps, {
      host: {
        newEventId: () => deps.ids.next("sevt"),
        emit: (fact) => this.#onFact(fact),
        prepare: (call, signal) => this.#calls.prepare(call, signal),
        execute: (call, signal) => this.#calls.execute(call, signal),
      },
      mode: () => this.mode,
      onLimit,
      onCredentialRejected: (status, message) => this.#refuseCredential(status, message),
    });
  }

  get id(): string {
    return this.#deps.record.id;
  }

  get record(): SessionRecord {
    return this.#deps.record;
  }

  get state(): SessionState {
    return this.#deps.log.state;
  }

  get mode(): Mode {
    return (this.state.mode as Mode | undefined) ?? this.#deps.record.agent.permissions.mode;
  }

  /** Starts the agent process ahead of the next message, so that the message does not wait for it. */
  warm(): void {
    this.#engine.warm();
  }

  /** Stores the message and starts a turn, or adds it to the turn under way. */
  send(content: string | MessageContent): Turn<Output> {
    const blocks: MessageContent = typeof content === "string" ? [{ type: "text", text: content }] : content;
    const sent = this.#send(blocks);
    sent.catch(() => {});
    return this.#follow(sent);
  }

  /** Makes the context shorter: the model sees a summary from then on. A turn of its own. */
  compact(): Turn<Output> {
    const started = this.#compact();
    started.catch(() => {});
    return this.#follow(started);
  }

  /** Ends the turn under way and keeps its work. Resolves when the session is idle; at once when it already is. */
  async interrupt(): Promise<void> {
    const turn = this.#turn;
    if (turn === undefined) return;
    await this.#deps.log.append([{ type: "user.interrupt" }]);
    turn.interrupted = true;
    await this.#engine.interrupt();
    await turn.ended.promise;
  }

  async setModel(model: string): Promise<void> {
    await this.#engine.setModel(model);
    await this.#deps.log.append([{ type: "capstan.model_changed", model }]);
  }

  async setMode(mode: Mode): Promise<void> {
    await this.#engine.setMode(mode);
    await this.#deps.log.append([{ type: "capstan.mode_changed", mode }]);
  }

  /** Ends the agent process; the next message, or `warm`, starts another. Costs nothing until then. */
  async hibernate(): Promise<void> {
    await this.interrupt();
    await this.#engine.close();
  }

  /** Every event after `after`, then what happens, until `signal` aborts or the session is closed. */
  async *events(
    options: { readonly after?: number; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<StoredEvent | Preview> {
    for await (const item of this.#subscribe(options.after ?? 0, options.signal))
      yield item.kind === "event" ? item.event : item.preview;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.hibernate();
    await this.#deps.release();
    this.#ending.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** Another host has taken the session: nothing may be written, and nothing may go on. */
  abandon(error: CapstanError): void {
    this.#closed = true;
    this.#turn?.ended.reject(error);
    this.#engine.kill();
    this.#ending.abort(error);
  }

  /** Brings a session back that another host left: settles what was open, then goes on or ends the turn. */
  async recover(onCrash: "continue" | "stop"): Promise<void> {
    const { log, store } = this.#deps;
    if (this.state.status === "running") {
      await log.append((state) => [
        { type: "capstan.process_lost", reason: "The host that drove this session is gone.", stderr: "" },
        ...settleOpenWork(state),
      ]);
      const events = await store.events(this.id, { after: Math.max(0, this.state.historyFrom - 1) });
      const cut = inspectCutTurn(events.map(({ event }) => event));
      if (cut.kind === "finished") return this.#tellEnd({ outcome: "completed", usage: {} });
      if (cut.withdraw !== undefined)
        await log.append([{ type: "capstan.message_withdrawn", message_id: cut.withdraw }]);
      if (onCrash === "stop")
        return this.#tellEnd({
          outcome: "failed",
          usage: {},
          error: new CapstanError(
            "engine_lost",
            "The host that drove this session ended during the turn. Send a message to go on.",
          ),
        });
      await log.append([{ type: "session.status_rescheduled" }, { type: "session.status_running" }]);
      this.#begin();
      void this.#run(() => this.#engine.open({ continueTurn: true }));
    }
    if (this.state.undelivered.length > 0) await this.#deliverPending();
  }

  async #send(content: MessageContent): Promise<number> {
    this.#requireOpen();
    if (content.every((block) => block.type === "text" && block.text.trim() === ""))
      throw new CapstanError("invalid_input", "The message is empty. Say what the agent should do.");
    const [stored] = await this.#deps.log.append([{ type: "user.message", content }]);
    await this.#deliverPending();
    return (stored?.seq ?? 1) - 1;
  }

  async #compact(): Promise<number> {
    this.#requireOpen();
    const [stored] = await this.#startTurn();
    void this.#run(async () => {
      await this.#engine.open();
      await this.#engine.compact();
    });
    return (stored?.seq ?? 1) - 1;
  }

  /** Hands every stored message that the engine has not been given to it, starting a turn when none is under way. */
  async #deliverPending(): Promise<void> {
    if (this.#turn === undefined) {
      const hit = limitOnTurn(this.#deps.record.agent.budget, this.state);
      await this.#startTurn();
      if (hit !== undefined) {
        this.#reachLimit(hit);
        return this.#tellEnd({ outcome: "completed", usage: {} });
      }
    }
    void this.#run(async () => {
      await this.#engine.open();
      const messages = await this.#engine.pending();
      // The turn that was under way may have ended meanwhile.
      if (this.#turn === undefined && messages.length > 0) await this.#startTurn();
      this.#engine.give(messages);
    });
  }

  async #startTurn(): Promise<readonly StoredEvent[]> {
    this.#begin();
    return this.#deps.log.append([{ type: "session.status_running" }]);
  }

  #begin(): void {
    const limit = this.#deps.record.agent.budget.deadline_ms;
    const deadline = limit === undefined ? undefined : this.#deps.clock.now() + limit;
    const turn: ActiveTurn = {
      ended: Promise.withResolvers(),
      interrupted: false,
      limit: undefined,
      failure: undefined,
      deadline,
      timer: undefined,
    };
    turn.ended.promise.catch(() => {});
    if (limit !== undefined)
      turn.timer = setTimeout(() => this.#reachLimit({ which: "deadline", limit, spent: limit }), limit);
    this.#turn = turn;
  }

  /** Runs a step of the turn; a failure ends the turn with its reason in the log. */
  async #run(step: () => Promise<unknown>): Promise<void> {
    try {
      await step();
    } catch (thrown) {
      const error =
        thrown instanceof CapstanError ? thrown : new CapstanError("engine_failed", String(thrown), { cause: thrown });
      await this.#tellEnd({ outcome: "failed", error, usage: {} });
    }
  }

  async #onFact(fact: EngineFact): Promise<void> {
    const { log } = this.#deps;
    switch (fact.kind) {
      case "preview":
        return log.preview(fact.preview);
      case "event":
        return void (await log.append([fact.draft]));
      case "delivered":
        return void (await log.append((state) => {
          const ids = fact.eventIds.filter((id) => state.undelivered.some((message) => message.id === id));
          return ids.length === 0 ? [] : [{ type: "capstan.input_delivered", event_ids: ids }];
        }));
      case "tool_result":
        return this.#calls.finalize(fact, this.#turn?.interrupted === true || this.#turn?.limit !== undefined);
      case "turn_ended":
        return this.#tellEnd(fact.end);
      case "lost":
        this.#engine.forget();
        await log.append([{ type: "capstan.process_lost", reason: fact.error.message, stderr: fact.stderr }]);
        return this.#tellEnd({ outcome: "failed", error: fact.error, usage: {} }, fact.stderr);
    }
  }

  /** The end of a turn, told once: outcomes for what is open, then why it stopped, then idle. */
  async #tellEnd(end: TurnEnd, stderr?: string): Promise<void> {
    const turn = this.#turn;
    this.#turn = undefined;
    clearTimeout(turn?.timer);
    const checked = await checkOutput(
      turn?.failure === undefined ? end : { ...end, outcome: "failed", error: turn.failure },
      this.#deps.output,
    );
    await this.#deps.log.append((state) => {
      if (state.status !== "running") return settleOpenWork(state);
      const limit = turn?.limit ?? this.#limitOf(checked, state);
      const { before, stopReason } = tellTurnEnd(checked, { limit, stderr });
      const idle: EventDraft<"session.status_idle"> = {
        type: "session.status_idle",
        stop_reason: stopReason,
        stop_details: null,
      };
      const output = stopReason.type === "end_turn" && checked.output !== undefined ? { output: checked.output } : {};
      return [...settleOpenWork(state), usageEvent(state, checked.usage), ...before, { ...idle, ...output }];
    });
    turn?.ended.resolve();
    // A process that has reached a limit of its own keeps to it; the next one counts anew.
    if (end.outcome === "steps" || end.outcome === "budget") await this.#engine.close();
    else this.#engine.restLater();
  }

  /** The engine ended the turn at a limit that it keeps itself. */
  #limitOf(end: TurnEnd, state: SessionState): LimitHit | undefined {
    const { budget } = this.#deps.record.agent;
    if (end.outcome === "steps") return { which: "steps", limit: budget.steps ?? 0, spent: budget.steps ?? 0 };
    if (end.outcome === "budget") return { which: "usd", limit: budget.usd ?? 0, spent: state.usd };
    return undefined;
  }

  #reachLimit(hit: LimitHit): void {
    const turn = this.#turn;
    if (turn === undefined || turn.limit !== undefined) return;
    turn.limit = hit;
    void this.#engine.interrupt();
  }

  #refuseCredential(status: number, message: string): void {
    if (this.#turn === undefined) return;
    this.#turn.failure = new CapstanError(
      "credential_rejected",
      `The model API refused the credential (${status}): ${message}. Check the key.`,
      { data: { status } },
    );
  }

  #requireOpen(): void {
    if (this.#closed) throw new CapstanError("session_ended", "This session is closed. Resume it by its id to go on.");
  }

  #subscribe(after: number, signal?: AbortSignal): AsyncGenerator<FeedItem> {
    const { feed, store } = this.#deps;
    const ending = signal === undefined ? this.#ending.signal : AbortSignal.any([signal, this.#ending.signal]);
    return feed.subscribe(store, { sessionId: this.id, after, signal: ending, live: () => true });
  }

  /** From the message that `sent` stored until the session is idle. */
  #follow(sent: Promise<number>): Turn<Output> {
    const subscribe = this.#subscribe.bind(this);
    async function* stream(): AsyncGenerator<SessionEvent | Preview> {
      for await (const item of subscribe(await sent)) {
        const event = item.kind === "event" ? item.event.event : item.preview;
        yield event;
        if (event.type === "session.status_idle") return;
      }
    }
    return new Turn(stream);
  }
}
