import type { Mode } from "../../core/agent/agent-definition.ts";
import type { EngineHost, EngineSession } from "../../core/ports/engine.ts";
import type { EngineName } from "../../core/agent/engine-name.ts";
import { CapstanError } from "../../core/errors.ts";
import type { SessionProcess, ToolSettings, TurnQueue } from "../session-deps.ts";
import type { PendingMessage } from "./deliveries.ts";
import type { MeterHooks } from "./meter.ts";
import { ProcessTraffic } from "./process-traffic.ts";
import { type PooledProcess, RestTimer } from "./processes.ts";
import { engineInForce } from "./session-engine.ts";
import {
  type Live,
  type EngineStartOptions,
  processStartedEvent,
  type StartDeps,
  startProcess,
} from "./start-process.ts";

type Deps = StartDeps & SessionProcess & TurnQueue & Pick<ToolSettings, "budgets">;

/** What a process needs from the turn that it works for. */
interface TurnOfProcess {
  /** The process must not be put to rest. */
  readonly isBusy: boolean;
  readonly meterHooks: MeterHooks;
  /** A model request is over. */
  stir(): void;
}

interface Parts {
  readonly mode: () => Mode;
  readonly turn: TurnOfProcess;
  /** Gets what the engine reports, and answers what it asks. */
  readonly host: EngineHost;
  /** Puts an idle process to rest. */
  readonly onRest: () => void;
}

/** A session's one engine process: started when it is needed, or ahead of that, and ended when it has nothing to do. */
export class EngineSlot {
  readonly #deps: Deps;
  readonly #parts: Parts;
  #live: Promise<Live> | undefined;
  /** The engine of `#live`, or of the last process. */
  #engine: EngineName | undefined;
  /** Resolves when the process of another engine has ended. */
  #leaving: Promise<void> | undefined;
  /** Stops the process that is starting. */
  #starting: AbortController | undefined;
  #session: EngineSession | undefined;
  #pooled: PooledProcess | undefined;
  /** Not in the log yet. The log mentions a process once it has something to do, so an idle session's log does not grow. */
  #untold: EngineSession | undefined;
  #traffic: ProcessTraffic;
  readonly #rest: RestTimer;
  /** The model that is about to be chosen. */
  #chosen: string | undefined;

  constructor(deps: Deps, parts: Parts) {
    this.#deps = deps;
    this.#parts = parts;
    this.#traffic = this.#newTraffic();
    this.#rest = new RestTimer(deps.hibernateAfterMs, () => this.#restNow());
  }

  /** Starts a process if the host has room for it. The turn that needs the process sees a failure. */
  warm(): void {
    const { admission, processes } = this.#deps;
    if (this.#live === undefined && !(admission.hasRoomToWarm && processes.hasRoomToWarm)) return;
    this.#ready({ start: { kind: "wait" } }).then(
      () => this.restLater(),
      () => {},
    );
  }

  async open(options: EngineStartOptions = { start: { kind: "wait" } }): Promise<void> {
    await this.#ready(options);
    const untold = this.#untold;
    this.#untold = undefined;
    if (untold !== undefined)
      await this.#deps.log.appendSoon([processStartedEvent(untold, this.#engine ?? this.#wanted)]);
  }

  async #ready(options: EngineStartOptions): Promise<void> {
    this.#rest.stop();
    // No await if there is nothing to wait for: the next caller must see that a process is starting.
    const leaving = this.leaveOther();
    if (leaving !== undefined) await leaving;
    this.#live ??= this.#start(options);
    const starting = this.#live;
    try {
      const { session } = await starting;
      // The process may already be lost.
      if (this.#live === starting) this.#occupy(session);
    } catch (thrown) {
      if (this.#live === starting) this.#live = undefined;
      throw thrown;
    }
  }

  /** Ends the process of an engine that is no longer in force. It must not be in a turn. */
  leaveOther(): Promise<void> | undefined {
    if (this.#live !== undefined && this.#engine !== this.#wanted && this.#leaving === undefined)
      this.#leaving = this.close()
        .catch(() => {})
        .finally(() => {
          this.#leaving = undefined;
        });
    return this.#leaving;
  }

  get #wanted(): EngineName {
    return engineInForce(this.#deps.record.agent, this.#deps.log.state);
  }

  #occupy(session: EngineSession): void {
    const { clock, processes } = this.#deps;
    if (this.#session !== session) this.#untold = session;
    this.#session = session;
    const { pid } = session;
    // An engine that runs in the host has no process that could be ended to make room.
    if (pid === undefined) return;
    this.#pooled ??= { pid, startedAt: clock.now(), rest: () => this.#restNow() };
    processes.works(this.#pooled);
  }

  /** A turn works with the process that is there. */
  works(): void {
    this.#rest.stop();
    if (this.#pooled !== undefined) this.#deps.processes.works(this.#pooled);
  }

  /** A process is there, or starting. */
  get isOpen(): boolean {
    return this.#live !== undefined;
  }

  /** How many model requests are under way. */
  get requests(): number {
    return this.#traffic.requests;
  }

  /** Stored messages that the process was not given yet. */
  async pending(): Promise<readonly PendingMessage[]> {
    const { log, store, record } = this.#deps;
    const messages: PendingMessage[] = [];
    for (const { id, seq } of log.state.undelivered) {
      if (this.#traffic.deliveries.has(id)) continue;
      const [stored] = await store.events(record.id, { after: seq - 1, limit: 1 });
      if (stored?.event.type === "user.message")
        messages.push({ eventId: id, content: log.asWritten(id) ?? stored.event.content });
    }
    return messages;
  }

  /** Synchronous, so that the turn which the caller saw under way still is when the process gets the message. */
  give(messages: readonly PendingMessage[]): void {
    for (const message of messages) {
      if (this.#session === undefined || this.#traffic.deliveries.has(message.eventId)) continue;
      this.#traffic.deliveries.give(message);
      this.#session.send(message);
    }
  }

  async compact(): Promise<void> {
    const session = (await this.#live)?.session;
    if (session?.compact === undefined)
      throw new CapstanError("unsupported", `The ${this.#wanted} engine cannot compact a conversation.`);
    session.compact();
  }

  /** A process that is still starting has done no work and may hang: an MCP server can be silent for a long time. */
  async interrupt(): Promise<void> {
    this.#starting?.abort();
    const live = await this.#live?.catch(() => undefined);
    await live?.session.interrupt();
  }

  /** Without a process only the log remembers the change, and the next process starts with it. */
  async setModel(model: string): Promise<void> {
    // The engine tries the model before it answers, when the log does not have it yet.
    this.#chosen = model;
    try {
      await (await this.#live)?.session.setModel?.(model);
    } finally {
      this.#chosen = undefined;
    }
  }

  async setMode(mode: Mode): Promise<void> {
    await (await this.#live)?.session.setMode?.(mode);
  }

  /** Ends an idle process when nothing is asked of it for a while. */
  restLater(): void {
    if (this.#parts.turn.isBusy) return this.#rest.stop();
    void this.leaveOther();
    this.#rest.start();
    if (this.#pooled !== undefined) this.#deps.processes.waits(this.#pooled);
  }

  /** Someone may have answered at the last moment, so that a call runs. */
  #restNow(): void {
    if (!this.#parts.turn.isBusy) this.#parts.onRest();
  }

  async close(): Promise<void> {
    this.#rest.stop();
    // A process that is still starting may hang.
    this.#starting?.abort();
    const live = await this.#live?.catch(() => undefined);
    this.#vacate();
    await live?.session.close();
    await live?.access.close();
  }

  kill(): void {
    this.#rest.stop();
    void this.#live?.then((live) => live.session.kill()).catch(() => {});
    this.forget();
  }

  /** The process is gone; the next one gets the messages that it did not take. */
  forget(): void {
    void this.#live?.then((live) => live.access.close()).catch(() => {});
    this.#vacate();
  }

  #newTraffic(): ProcessTraffic {
    return new ProcessTraffic(this.#deps, { ...this.#parts, chosen: () => this.#chosen });
  }

  #vacate(): void {
    if (this.#pooled !== undefined) this.#deps.processes.remove(this.#pooled);
    this.#pooled = undefined;
    this.#untold = undefined;
    this.#live = undefined;
    this.#session = undefined;
    this.#traffic.end();
    this.#traffic = this.#newTraffic();
  }

  async #start(options: EngineStartOptions): Promise<Live> {
    this.#engine = this.#wanted;
    const starting = new AbortController();
    this.#starting = starting;
    // Of this process, which may be stopped while it starts.
    const traffic = this.#traffic;
    try {
      return await startProcess(this.#deps, {
        ...options,
        engine: this.#engine,
        mode: this.#parts.mode,
        host: traffic.host(),
        requests: traffic.gateway(options.line),
        signal: starting.signal,
      });
    } finally {
      if (this.#starting === starting) this.#starting = undefined;
    }
  }
}
