import { limitOnTurn } from "../../core/session/session-limits.ts";
import type { LimitHit } from "../../core/money/budget-schema.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { CapstanError } from "../../core/errors.ts";
import { type ClaimDeps, Occupancy } from "../engine/directory-claim.ts";
import type { MeterHooks } from "../engine/meter.ts";
import type { SessionBasics, SessionHelpers, TurnQueue } from "../session-deps.ts";
import { CredentialPause } from "./credential-pause.ts";
import { DRIVEN, TurnMachine, type TurnState, undrivenState } from "./turn-state.ts";

type PlaceDeps = ClaimDeps & TurnQueue & Pick<SessionHelpers, "checkpoints">;
type Deps = SessionBasics & PlaceDeps & Pick<SessionHelpers, "userHooks">;

/** The turn that this host drives, if there is one, and its state. */
export class CurrentTurn {
  readonly machine: TurnMachine;
  /** Its directory, and its slot among the turns of the host. */
  readonly place: TurnSlot;
  /** What the meter of its model requests reports. */
  readonly meterHooks: MeterHooks;
  readonly #deps: Deps;
  #turn: ActiveTurn | undefined;
  /** Resolves when the end that is being written is stored. */
  #ending: PromiseWithResolvers<void> | undefined;
  #onStir: () => void = () => {};

  constructor(deps: Deps) {
    this.#deps = deps;
    this.place = new TurnSlot(deps);
    this.machine = new TurnMachine(undrivenState(deps.log.state));
    this.machine.onChange((state) => this.#turn?.follow(state));
    deps.log.watch((event) => this.machine.follow(event));
    const pause = new CredentialPause(deps);
    this.meterHooks = {
      onLimit: (hit) => this.reachLimit(hit),
      onRefusal: (error) => {
        if (this.#turn !== undefined) this.#turn.refusal ??= error;
      },
      onExpired: (expired) => pause.begin(this.#turn, expired),
    };
  }

  get turn(): ActiveTurn | undefined {
    return this.#turn;
  }

  /** It must end: nothing that is open is taken up again. */
  get isStopping(): boolean {
    return this.#turn?.isStopping === true;
  }

  /** Its process must not be put to rest. */
  get isBusy(): boolean {
    return this.machine.is(...DRIVEN) && !this.machine.is("waiting");
  }

  /** Milliseconds since the epoch; undefined while no time runs, and for a turn without a deadline. */
  get deadline(): number | undefined {
    return this.#turn?.deadline;
  }

  /** The limit that another turn would exceed. */
  limit(): LimitHit | undefined {
    return limitOnTurn(this.#deps.record.agent.budget, this.#deps.log.state);
  }

  begin(how: "start" | "recover" | "revive"): ActiveTurn {
    const { record, clock, userHooks } = this.#deps;
    this.machine.apply(how);
    userHooks.begin();
    const limitMs = record.agent.budget.deadline_ms;
    const onLate = (limit: number): void => this.reachLimit({ which: "deadline", limit, spent: limit });
    const worker = how === "revive" ? "revival" : "process";
    this.#turn = new ActiveTurn({ clock, limitMs, onLate, worker, onOver: () => void this.place.release() });
    return this.#turn;
  }

  /** Resolves when nobody else works in its directory. */
  async occupy(): Promise<void> {
    await this.place.take(() => this.#turn?.isStopping !== false);
  }

  /** Only the first limit counts. */
  reachLimit(hit: LimitHit): void {
    if (this.#turn === undefined || this.#turn.limit !== undefined) return;
    this.#turn.limit = hit;
    if (this.machine.can("limit")) this.machine.apply("limit");
  }

  /** Something happened in the turn: anyone waiting for it to pause checks again. */
  stir(): void {
    this.#onStir();
  }

  /** For one listener. */
  onStir(listener: () => void): void {
    this.#onStir = listener;
  }

  /** The turn is over for everybody but the caller, who writes its end and then calls `ended`. */
  end(): ActiveTurn | undefined {
    this.machine.apply("end");
    this.#ending = Promise.withResolvers();
    const turn = this.#turn;
    this.#turn = undefined;
    return turn;
  }

  /** Its end is stored, or could not be. */
  finishEnding(turn: ActiveTurn | undefined): void {
    this.#letGo();
    turn?.release();
    this.#ending?.resolve();
    this.#ending = undefined;
  }

  /** Resolves when no end is being written. */
  async whenEnded(): Promise<void> {
    while (this.#ending !== undefined) await this.#ending.promise;
  }

  /** Lets go of the turn without writing anything. */
  abort(): void {
    const turn = this.#turn;
    this.#turn = undefined;
    // The code that writes the end of the turn releases it.
    if (!this.machine.is("ending")) this.#letGo();
    turn?.release();
  }

  /** Lets go of a turn that waits for people. The caller stores right away that it does. */
  hibernate(): void {
    const turn = this.#turn;
    this.#turn = undefined;
    if (!this.machine.is("hibernated")) this.machine.apply("hibernate");
    turn?.release();
  }

  /** The log is the truth: it says what becomes of a turn that this host no longer drives. */
  #letGo(): void {
    const state = undrivenState(this.#deps.log.state);
    if (this.machine.is(state)) return;
    this.machine.apply(({ idle: "finish", hibernated: "hibernate", abandoned: "lose" } as const)[state]);
  }
}

interface Surroundings {
  readonly clock: Clock;
  /** Milliseconds the turn may take, without the time people take to answer; undefined for no limit. */
  readonly limitMs: number | undefined;
  readonly onLate: (limitMs: number) => void;
  /** Called when this host no longer drives it. */
  readonly onOver: () => void;
  readonly worker: ActiveTurn["worker"];
}

/** A turn for as long as this host drives it: its clock, and what is known about its end. */
export class ActiveTurn {
  /** Resolves when this host no longer drives it. */
  readonly over: Promise<void>;
  /** Who does its work: the session's process, or a revival, which runs what waited and takes no message. */
  worker: "process" | "revival";
  limit: LimitHit | undefined;
  /** How often the engine has retried a model request. */
  retries = 0;
  /** Why the model could not be asked. */
  refusal: CapstanError | undefined;
  readonly #given: Surroundings;
  readonly #end: () => void;
  readonly #stop = new AbortController();
  #left: number;
  #timer: { readonly timeout: NodeJS.Timeout; readonly due: number } | undefined;

  constructor(given: Surroundings) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.#end = resolve;
    this.#given = given;
    this.#left = given.limitMs ?? 0;
    this.worker = given.worker;
  }

  /** It is being stopped, or this host let go of it: it takes no further step. */
  get isStopping(): boolean {
    return this.#stop.signal.aborted;
  }

  get deadline(): number | undefined {
    return this.#timer?.due;
  }

  /** Its time runs only while it is running: neither queues nor people use it up. */
  follow(state: TurnState): void {
    if (state === "running") this.#startClock();
    else this.#stopClock();
    if (state === "interrupting" || state === "limited") this.#stop.abort();
  }

  /** Stops its steps, and resolves `over`. */
  release(): void {
    this.#stop.abort();
    this.#stopClock();
    this.#given.onOver();
    this.#end();
  }

  #startClock(): void {
    const { limitMs, clock, onLate } = this.#given;
    if (limitMs === undefined || this.#timer !== undefined) return;
    this.#timer = { timeout: setTimeout(() => onLate(limitMs), this.#left), due: clock.now() + this.#left };
  }

  #stopClock(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer.timeout);
    this.#left = Math.max(0, this.#timer.due - this.#given.clock.now());
    this.#timer = undefined;
  }
}

/** What a turn needs before it may work: the directory of its session, then a slot among the turns of the host. */
class TurnSlot {
  readonly #deps: PlaceDeps;
  readonly #occupancy: Occupancy;
  #entered: Promise<(() => void) | undefined> | undefined;

  constructor(deps: PlaceDeps) {
    this.#deps = deps;
    this.#occupancy = new Occupancy(deps);
  }

  /** What to store with the start of a turn, so that claiming its directory needs no write of its own. */
  begin(): { readonly claim?: string } {
    const claim = this.#occupancy.begin();
    return claim === undefined ? {} : { claim };
  }

  /** Resolves when the turn may work, or when `stopped` says that it no longer needs to. */
  async take(isStopped: () => boolean): Promise<void> {
    const { admission, record } = this.#deps;
    // The directory first: a turn that waits for one must not take a slot from those that could work.
    await this.#occupancy.take(isStopped);
    if (isStopped()) return;
    const entered = (this.#entered ??= admission.enter(record.project, isStopped));
    if ((await entered) === undefined && this.#entered === entered) this.#entered = undefined;
  }

  /** Gives up the slot and keeps the directory: nothing works there while a server asks a person. */
  leaveSlot(): void {
    const entered = this.#entered;
    this.#entered = undefined;
    void entered?.then((leave) => leave?.());
  }

  /** Gives up both, while the turn waits for people and when it is over. */
  async release(): Promise<void> {
    this.leaveSlot();
    // What the next session changes here must not look like the work of this one.
    await this.#deps.checkpoints.waitForCalls();
    await this.#occupancy.release();
  }
}
