import type { Mode } from "../core/agent-definition.ts";
import { type LimitHit, limitOnTurn } from "../core/budget.ts";
import type { MessageContent } from "../core/content.ts";
import type { EngineFact, TurnEnd } from "../core/engine.ts";
import { CapstanError, messageOf } from "../core/errors.ts";
import type { EventDraft, StoredEvent } from "../core/events.ts";
import { EngineSlot } from "./engine-slot.ts";
import { locateKept } from "./kept.ts";
import { checkOutput } from "./output.ts";
import { inspectCutTurn, settleOpenWork } from "./recovery.ts";
import type { SessionDeps } from "./session-deps.ts";
import { ToolCalls } from "./tool-calls.ts";
import { turnEndEvents } from "./turn-end.ts";

/** What is going on between `session.status_running` and `session.status_idle`. */
interface ActiveTurn {
  readonly over: PromiseWithResolvers<void>;
  readonly deadline: number | undefined;
  readonly timer: NodeJS.Timeout | undefined;
  interrupted: boolean;
  limit: LimitHit | undefined;
  /** Why the model could not be asked. */
  refusal: CapstanError | undefined;
}

/**
 * Runs the turns of one session. It alone decides what the engine's facts mean for the log: the engine says what
 * happened, and nothing is told to anyone before it is stored.
 */
export class Turns {
  readonly engine: EngineSlot;
  readonly #deps: SessionDeps;
  readonly #calls: ToolCalls;
  /** Called when the log cannot be written: nothing may go on unlogged. */
  readonly #onFailure: (error: CapstanError) => void;
  #active: ActiveTurn | undefined;

  constructor(deps: SessionDeps, { mode, onFailure }: { mode: () => Mode; onFailure: (error: CapstanError) => void }) {
    this.#deps = deps;
    this.#onFailure = onFailure;
    const onLimit = (hit: LimitHit): void => this.#reachLimit(hit);
    this.#calls = new ToolCalls(deps, { mode, onLimit, deadline: () => this.#active?.deadline });
    this.engine = new EngineSlot(deps, {
      host: {
        newEventId: () => deps.ids.next("sevt"),
        emit: (fact) => this.#take(fact),
        prepare: (call, signal) => this.#calls.prepare(call, signal),
        execute: (call, signal) => this.#calls.execute(call, signal),
      },
      mode,
      busy: () => this.#active !== undefined,
      onLimit,
      onRefusal: (error) => this.#refuse(error),
    });
  }

  /** Stores the message and starts a turn, or adds it to the one under way. Resolves to the place before the message. */
  async send(content: MessageContent): Promise<number> {
    await this.#settleFailedTurn();
    const message: EventDraft = { type: "user.message", content };
    // A message that starts a turn is stored together with the start: one write on the way to the model instead of two.
    const starts = this.#active === undefined && this.#limitOnTurn() === undefined;
    if (starts) this.#begin();
    const drafts: EventDraft[] = starts ? [message, { type: "session.status_running" }] : [message];
    const [stored] = await this.#deps.log.append(drafts).catch((thrown: unknown) => {
      if (starts) this.#abort();
      throw thrown;
    });
    await this.#deliver();
    return before(stored);
  }

  async compact(): Promise<number> {
    if (this.#active !== undefined)
      throw new CapstanError("invalid_input", "A turn is under way. Compact when the session is idle.");
    await this.#settleFailedTurn();
    const [stored] = await this.#start();
    void this.#step(async (stopped) => {
      await this.engine.open();
      if (!stopped()) await this.engine.compact();
    });
    return before(stored);
  }

  /** Another host has taken the session: nothing is written any more, and whoever waits is let go. */
  abandon(): void {
    this.engine.kill();
    this.#abort();
  }

  /** Resolves when the turn under way is over; at once when there is none. */
  async interrupt(): Promise<void> {
    const turn = this.#active;
    if (turn === undefined) return;
    await this.#deps.log.append([{ type: "user.interrupt" }]);
    turn.interrupted = true;
    await this.engine.interrupt();
    await turn.over.promise;
  }

  /** Goes on where another host left the session, or ends the turn it left. */
  async recover(onCrash: "continue" | "stop"): Promise<void> {
    const { log } = this.#deps;
    if (log.state.status === "running") {
      const finished = await this.#settleCutTurn("The host that drove this session is gone.");
      if (!finished && onCrash === "stop") return this.#end(hostLost());
      if (!finished) {
        await log.append([{ type: "session.status_rescheduled" }, { type: "session.status_running" }]);
        this.#begin();
        void this.#step(() => this.engine.open({ continueTurn: true }));
      }
    }
    if (log.state.undelivered.length > 0) await this.#deliver();
  }

  /** A turn that ended without its end in the log, because the log could not be written then. */
  async #settleFailedTurn(): Promise<void> {
    // A turn whose end is just being written is not a failed one.
    await this.#deps.log.append([]);
    if (this.#active !== undefined || this.#deps.log.state.status !== "running") return;
    if (!(await this.#settleCutTurn("The turn was given up because its log could not be written.")))
      await this.#end(hostLost());
  }

  /** Gives everything open its outcome. True when only the end of the turn was missing, which is then told. */
  async #settleCutTurn(reason: string): Promise<boolean> {
    const { log, store, record } = this.#deps;
    await log.append((state) => [{ type: "capstan.process_lost", reason, stderr: "" }, ...settleOpenWork(state)]);
    const events = await store.events(record.id, { after: Math.max(0, log.state.historyFrom - 1) });
    const cut = inspectCutTurn(events.map(({ event }) => event));
    if (cut.kind === "finished") await this.#end({ outcome: "completed", usage: {} });
    else if (cut.withdraw !== undefined)
      await log.append([{ type: "capstan.message_withdrawn", message_id: cut.withdraw }]);
    return cut.kind === "finished";
  }

  /** Gives the engine every stored message that it does not have, in a new turn when none is under way. */
  async #deliver(): Promise<void> {
    if (this.#active === undefined) {
      const hit = this.#limitOnTurn();
      await this.#start();
      if (hit !== undefined) {
        this.#reachLimit(hit);
        return this.#end({ outcome: "completed", usage: {} });
      }
    }
    void this.#step(async (stopped) => {
      await this.engine.open();
      const messages = await this.engine.pending();
      if (messages.length === 0 || stopped()) return;
      // The turn that was under way may have ended meanwhile.
      if (this.#active === undefined) await this.#start();
      this.engine.give(messages);
    });
  }

  #limitOnTurn(): LimitHit | undefined {
    return limitOnTurn(this.#deps.record.agent.budget, this.#deps.log.state);
  }

  async #start(): Promise<readonly StoredEvent[]> {
    this.#begin();
    return this.#deps.log.append([{ type: "session.status_running" }]);
  }

  #begin(): void {
    const limit = this.#deps.record.agent.budget.deadline_ms;
    const late = (): void => this.#reachLimit({ which: "deadline", limit: limit ?? 0, spent: limit ?? 0 });
    const over = Promise.withResolvers<void>();
    this.#active = {
      over,
      deadline: limit === undefined ? undefined : this.#deps.clock.now() + limit,
      timer: limit === undefined ? undefined : setTimeout(late, limit),
      interrupted: false,
      limit: undefined,
      refusal: undefined,
    };
  }

  /** One step of the turn under way. A turn that is to stop takes no further step; a step that fails ends it. */
  async #step(step: (stopped: () => boolean) => Promise<void>): Promise<void> {
    const turn = this.#active;
    const stopped = (): boolean => turn !== undefined && (turn.interrupted || turn.limit !== undefined);
    try {
      if (!stopped()) await step(stopped);
      if (stopped()) await this.engine.interrupt();
      if (stopped() && this.#active === turn) await this.#end({ outcome: "interrupted", usage: {} });
    } catch (thrown) {
      await this.#end({ outcome: "failed", error: asError(thrown), usage: {} }).catch((failure: unknown) =>
        this.#fail(failure),
      );
    }
  }

  async #take(fact: EngineFact): Promise<void> {
    try {
      await this.#record(fact);
    } catch (thrown) {
      this.#fail(thrown);
    }
  }

  async #record(fact: EngineFact): Promise<void> {
    const { log } = this.#deps;
    switch (fact.kind) {
      case "preview":
        log.preview(fact.preview);
        return;
      case "event":
        await log.append([await locateKept(fact.draft, this.#deps)]);
        return;
      case "delivered":
        await log.append((state) => {
          const ids = fact.eventIds.filter((id) => state.undelivered.some((message) => message.id === id));
          return ids.length === 0 ? [] : [{ type: "capstan.input_delivered", event_ids: ids }];
        });
        return;
      case "tool_result":
        await this.#calls.finalize(fact, this.#active?.interrupted === true || this.#active?.limit !== undefined);
        return;
      case "turn_ended":
        await this.#end(fact.end);
        return;
      case "lost": {
        this.engine.forget();
        await log.append([{ type: "capstan.process_lost", reason: fact.error.message, stderr: fact.stderr }]);
        // A process that hung when it was told to stop is stopped all the same.
        const wanted = this.#active?.interrupted === true;
        await this.#end({
          outcome: wanted ? "interrupted" : "failed",
          error: wanted ? undefined : fact.error,
          usage: {},
        });
      }
    }
  }

  /** The end of a turn, told once: outcomes for what is open, then why it stopped, then idle. */
  async #end(end: TurnEnd): Promise<void> {
    const turn = this.#active;
    this.#active = undefined;
    clearTimeout(turn?.timer);
    // The engine would go on with messages that wait; they are for the next turn.
    if (end.outcome === "interrupted" && this.#deps.log.state.undelivered.length > 0) this.engine.kill();
    const refused = turn?.refusal;
    const told: TurnEnd = refused === undefined ? end : { ...end, outcome: "failed", error: refused };
    const { output, log, record } = this.#deps;
    // Checked inside the append: nothing that is sent meanwhile may find a turn that is neither under way nor over.
    await log.append(async (state) =>
      turnEndEvents(state, { end: await checkOutput(told, output), budget: record.agent.budget, limit: turn?.limit }),
    );
    turn?.over.resolve();
    // A process that has reached a limit of its own keeps to it; the next one counts anew. It is not waited for: the
    // process itself may be the one that tells of its end.
    if (end.outcome === "steps" || end.outcome === "budget") void this.engine.close().catch(() => {});
    else this.engine.restLater();
  }

  #reachLimit(hit: LimitHit): void {
    const turn = this.#active;
    if (turn === undefined || turn.limit !== undefined) return;
    turn.limit = hit;
    void this.engine.interrupt();
  }

  #refuse(error: CapstanError): void {
    if (this.#active !== undefined) this.#active.refusal ??= error;
  }

  /** Ends everything at once without a word in the log; the next message settles what is open. */
  #fail(thrown: unknown): void {
    this.#abort();
    this.engine.kill();
    this.#onFailure(asError(thrown));
  }

  #abort(): void {
    clearTimeout(this.#active?.timer);
    this.#active?.over.resolve();
    this.#active = undefined;
  }
}

function before(stored: StoredEvent | undefined): number {
  return (stored?.seq ?? 1) - 1;
}

function asError(thrown: unknown): CapstanError {
  return thrown instanceof CapstanError
    ? thrown
    : new CapstanError("engine_failed", messageOf(thrown), { cause: thrown });
}

function hostLost(): TurnEnd {
  const text = "The host that drove this session ended during the turn. Send a message to go on.";
  return { outcome: "failed", usage: {}, error: new CapstanError("engine_lost", text) };
}
