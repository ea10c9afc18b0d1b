import type { Mode } from "../../core/agent/agent-definition.ts";
import { engineAgentIdOf } from "../../core/ports/clock.ts";
import type { EngineHost, EngineSession, EngineStart, SubagentLine } from "../../core/ports/engine.ts";
import type { EngineName } from "../../core/agent/engine-name.ts";
import { CapstanError } from "../../core/errors.ts";
import type { GatewayAccess, GatewaySession } from "../../core/ports/gateway.ts";
import { conversationOf } from "../../core/session/conversation.ts";
import { historyOf } from "../../core/session/history.ts";
import { threadDepth } from "../../core/session/state.ts";
import { Deliveries, type PendingMessage } from "./deliveries.ts";
import { type MeterHooks, meterOf } from "./meter.ts";
import { delivered } from "./engine-events.ts";
import { processStarted } from "./process-started.ts";
import type { PooledProcess } from "./processes.ts";
import { RestTimer } from "./rest-timer.ts";
import { sessionSandbox } from "../protected/sandbox.ts";
import type { SessionDeps } from "../session-deps.ts";
import { engineInForce } from "./session-engine.ts";
import { withPlace } from "./workspace-note.ts";

interface SlotHooks extends MeterHooks {
  /** Whether a turn is under way: its process must not be put to rest. */
  readonly busy: () => boolean;
  /** Puts an idle process to rest. */
  readonly onRest: () => void;
  /** A model request is over. */
  readonly onAnswer: () => void;
  readonly host: EngineHost;
  readonly mode: () => Mode;
}

interface Live {
  readonly session: EngineSession;
  readonly access: GatewayAccess;
}

interface OpenOptions {
  readonly start: EngineStart;
  /** The subagent that the process drives alone. */
  readonly line?: SubagentLine;
}

/** The place of a session's one engine process: started when it is needed, or ahead of that, and ended when it rests. */
export class EngineSlot {
  readonly #deps: SessionDeps;
  readonly #hooks: SlotHooks;
  #live: Promise<Live> | undefined;
  /** What `#live` is, or was last, a process of. */
  #engine: EngineName | undefined;
  /** Of the process of another engine that is about to end. */
  #leaving: Promise<void> | undefined;
  /** Of the process that is on its way. */
  #starting: AbortController | undefined;
  #session: EngineSession | undefined;
  #pooled: PooledProcess | undefined;
  /** The log says nothing of a process until there is something for it to do: an idle session's log stays as it is. */
  #untold: EngineSession | undefined;
  /** Of the messages that the process was given; the next one is given those again that were not delivered. */
  #deliveries = this.#newDeliveries();
  readonly #rest: RestTimer;
  #requests = 0;
  /** The model that is about to be chosen. */
  #chosen: string | undefined;
  /** Aborts when the process is gone: whoever is asked on its behalf need not answer any more. */
  #gone = new AbortController();

  constructor(deps: SessionDeps, hooks: SlotHooks) {
    this.#deps = deps;
    this.#hooks = hooks;
    this.#rest = new RestTimer(deps.hibernateAfterMs, () => this.#restNow());
  }

  /** When the host has room for it. A failure is kept for the turn that needs the process. */
  warm(): void {
    const { admission, processes } = this.#deps;
    if (this.#live === undefined && !(admission.hasRoomToWarm && processes.hasRoomToWarm)) return;
    this.#ready({ start: { kind: "wait" } }).then(
      () => this.restLater(),
      () => {},
    );
  }

  async open(options: OpenOptions = { start: { kind: "wait" } }): Promise<void> {
    await this.#ready(options);
    const untold = this.#untold;
    this.#untold = undefined;
    if (untold !== undefined) await this.#deps.log.appendSoon([processStarted(untold, this.#engine ?? this.#wanted)]);
  }

  async #ready(options: OpenOptions): Promise<void> {
    this.#rest.stop();
    // Without a pause where there is nothing to wait for: whoever asks next sees that a process is on its way.
    const leaving = this.leaveOther();
    if (leaving !== undefined) await leaving;
    this.#live ??= this.#start(options);
    const starting = this.#live;
    try {
      const { session } = await starting;
      // It may be lost by now.
      if (this.#live === starting) this.#occupy(session);
    } catch (thrown) {
      if (this.#live === starting) this.#live = undefined;
      throw thrown;
    }
  }

  /** Ends the process of an engine that is not in force any more. It must not be in a turn. */
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
    // What runs in the host itself is no process that could be ended for room.
    if (pid === undefined) return;
    this.#pooled ??= { pid, startedAt: clock.now(), rest: () => this.#restNow() };
    processes.works(this.#pooled);
  }

  /** A turn that waited goes on with the process that is there. */
  works(): void {
    this.#rest.stop();
    if (this.#pooled !== undefined) this.#deps.processes.works(this.#pooled);
  }

  /** A process is there, or on its way. */
  get isOpen(): boolean {
    return this.#live !== undefined;
  }

  /** How many model requests are under way. */
  get requests(): number {
    return this.#requests;
  }

  /** Messages that are stored and that the process was not given yet. */
  async pending(): Promise<readonly PendingMessage[]> {
    const { log, store, record } = this.#deps;
    const messages: PendingMessage[] = [];
    for (const { id, seq } of log.state.undelivered) {
      if (this.#deliveries.has(id)) continue;
      const [stored] = await store.events(record.id, { after: seq - 1, limit: 1 });
      if (stored?.event.type === "user.message")
        messages.push({ eventId: id, content: log.asWritten(id) ?? stored.event.content });
    }
    return messages;
  }

  /** Without a pause between the caller's check that a turn is under way and the process having the message. */
  give(messages: readonly PendingMessage[]): void {
    for (const message of messages) {
      if (this.#session === undefined || this.#deliveries.has(message.eventId)) continue;
      this.#deliveries.give(message);
      this.#session.send(message);
    }
  }

  async compact(): Promise<void> {
    const session = (await this.#live)?.session;
    if (session?.compact === undefined)
      throw new CapstanError("unsupported", `The ${this.#wanted} engine cannot compact a conversation.`);
    session.compact();
  }

  /** A process that is still on its way has done nothing, and may never come: an MCP server can be silent for long. */
  async interrupt(): Promise<void> {
    this.#starting?.abort();
    const live = await this.#live?.catch(() => undefined);
    await live?.session.interrupt();
  }

  /** Without a process the log alone remembers the change, and the next process starts with it. */
  async setModel(model: string): Promise<void> {
    // The engine tries it out before it answers, and by then the log does not know of it yet.
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
    if (this.#hooks.busy()) return this.#rest.stop();
    void this.leaveOther();
    this.#rest.start();
    if (this.#pooled !== undefined) this.#deps.processes.waits(this.#pooled);
  }

  /** Somebody may have answered in the last moment, so that a call runs. */
  #restNow(): void {
    if (!this.#hooks.busy()) this.#hooks.onRest();
  }

  async close(): Promise<void> {
    this.#rest.stop();
    // One that is still on its way may never come.
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

  /** The process is gone; what it was given and did not take is given to the next one. */
  forget(): void {
    void this.#live?.then((live) => live.access.close()).catch(() => {});
    this.#vacate();
  }

  /** What an engine asks ends with its process, whether or not the engine itself can still say so. */
  #bound(host: EngineHost): EngineHost {
    const gone = this.#gone.signal;
    const deliveries = this.#deliveries;
    return {
      ...host,
      emit: (fact) => (fact.kind === "delivered" ? deliveries.taken(fact.eventIds) : host.emit(fact)),
      prepare: (call, signal) => host.prepare(call, AbortSignal.any([signal, gone])),
      elicit: (question, signal) => host.elicit(question, AbortSignal.any([signal, gone])),
    };
  }

  /** Knows which requests are under way. Those of a process that drives one line belong to that line. */
  #counted(line: SubagentLine | undefined, deliveries: Deliveries): GatewaySession {
    const metered = meterOf(this.#deps, this.#hooks, () => this.#chosen);
    const driven = line && engineAgentIdOf(line.threadId);
    return {
      ...metered,
      reserve: async (request) => {
        const attributed = { ...request, engineAgentId: request.engineAgentId ?? driven };
        const reservation = await metered.reserve(attributed, (state) => delivered(state, deliveries.due(attributed)));
        if (!reservation.granted) return reservation;
        this.#requests += 1;
        // The log has most of them by now, with the start of the request.
        await deliveries.requested(attributed);
        return reservation;
      },
      settle: async (token, outcome) => {
        await metered.settle(token, outcome).finally(() => {
          this.#requests = Math.max(0, this.#requests - 1);
        });
        this.#hooks.onAnswer();
      },
    };
  }

  #newDeliveries(): Deliveries {
    return new Deliveries((eventIds) => this.#hooks.host.emit({ kind: "delivered", eventIds }));
  }

  #vacate(): void {
    if (this.#pooled !== undefined) this.#deps.processes.gone(this.#pooled);
    this.#pooled = undefined;
    this.#untold = undefined;
    this.#live = undefined;
    this.#session = undefined;
    this.#deliveries = this.#newDeliveries();
    this.#requests = 0;
    this.#gone.abort();
    this.#gone = new AbortController();
  }

  async #start({ start, line }: OpenOptions): Promise<Live> {
    const { record, store, log, engines, gateway, stateDir, variables, tools, servers } = this.#deps;
    const name = this.#wanted;
    this.#engine = name;
    // Before the first pause: it may be given up while it starts.
    const host = this.#bound(this.#hooks.host);
    const deliveries = this.#deliveries;
    const starting = new AbortController();
    this.#starting = starting;
    const from = line === undefined ? Math.max(0, log.state.historyFrom - 1) : 0;
    const events = await log.events({ after: from });
    const { resources } = (await store.session(record.id)) ?? record;
    const agent = { ...record.agent, ...(servers !== undefined && { mcp_servers: servers }) };
    const engine = await engines.load(name);
    const serverFiles = this.#deps.programs.ofServers(record.agent.mcp_servers ?? {});
    const access = await gateway.admit(this.#counted(line, deliveries));
    log.hide({ name: "ANTHROPIC_AUTH_TOKEN", value: access.token });
    try {
      const session = await engine.open(
        {
          sessionId: record.id,
          agent: { ...agent, instructions: withPlace({ ...record, resources }, log.state.files.workspace) },
          model: log.state.model ?? record.agent.model,
          mode: this.#hooks.mode(),
          cwd: record.cwd,
          stateDir,
          variables,
          gateway: access,
          sandbox: sessionSandbox(this.#deps),
          limits: record.environment.limits,
          serverFiles,
          tools,
          transcripts: store.transcripts,
          history: historyOf(
            conversationOf(events).map(({ event }) => event),
            line?.threadId,
          ),
          subagents: Object.entries(log.state.threads).map(([id, { agentName, callId }]) => ({
            engineAgentId: engineAgentIdOf(id),
            name: agentName,
            callId,
            depth: threadDepth(log.state, id),
          })),
          lineHistory: async (threadId) => {
            const all = conversationOf(await log.events());
            return historyOf(
              all.map(({ event }) => event),
              threadId,
            );
          },
          start,
          ...(line !== undefined && { line }),
          signal: starting.signal,
        },
        host,
      );
      return { session, access };
    } catch (thrown) {
      await access.close();
      throw thrown;
    } finally {
      if (this.#starting === starting) this.#starting = undefined;
    }
  }
}
