import { engineAgentIdOf } from "../../core/ports/clock.ts";
import type { EngineHost, SubagentLine } from "../../core/ports/engine.ts";
import type { GatewaySession } from "../../core/ports/gateway.ts";
import { Deliveries } from "./deliveries.ts";
import { deliveryEvents } from "./engine-events.ts";
import { type MeteredSession, type MeterHooks, meterOf } from "./meter.ts";

interface Parts {
  /** Gets what the engine reports, and answers what it asks. */
  readonly host: EngineHost;
  readonly turn: {
    readonly meterHooks: MeterHooks;
    /** A model request is over. */
    stir(): void;
  };
  /** The model that a person is about to choose. */
  readonly chosen: () => string | undefined;
}

/** What goes in and out of one process: messages, questions and model requests. The next process starts anew. */
export class ProcessTraffic {
  /** The messages that the process was given. The next process gets those again that were not delivered. */
  readonly deliveries: Deliveries;
  readonly #deps: MeteredSession;
  readonly #parts: Parts;
  readonly #gone = new AbortController();
  #requests = 0;

  constructor(deps: MeteredSession, parts: Parts) {
    this.#deps = deps;
    this.#parts = parts;
    this.deliveries = new Deliveries((eventIds) => parts.host.emit({ kind: "delivered", eventIds }));
  }

  /** How many model requests are under way. */
  get requests(): number {
    return this.#requests;
  }

  /** Questions of an engine end with its process, even if the engine can no longer say so. */
  host(): EngineHost {
    const { host } = this.#parts;
    const gone = this.#gone.signal;
    return {
      ...host,
      emit: (fact) => (fact.kind === "delivered" ? this.deliveries.markTaken(fact.eventIds) : host.emit(fact)),
      prepare: (call, signal) => host.prepare(call, AbortSignal.any([signal, gone])),
      elicit: (question, signal) => host.elicit(question, AbortSignal.any([signal, gone])),
    };
  }

  /** Meters and counts the model requests. Those of a process that drives one thread belong to that thread. */
  gateway(line: SubagentLine | undefined): GatewaySession {
    const { turn, chosen } = this.#parts;
    const { deliveries } = this;
    const metered = meterOf(this.#deps, turn.meterHooks, chosen);
    const driven = line && engineAgentIdOf(line.threadId);
    return {
      ...metered,
      reserve: async (request) => {
        const attributed = { ...request, engineAgentId: request.engineAgentId ?? driven };
        const reservation = await metered.reserve(attributed, (state) =>
          deliveryEvents(state, deliveries.due(attributed)),
        );
        if (!reservation.granted) return reservation;
        this.#requests += 1;
        // The log has most deliveries by now, stored with the start of the request.
        await deliveries.markRequested(attributed);
        return reservation;
      },
      settle: async (token, outcome) => {
        await metered.settle(token, outcome).finally(() => {
          this.#requests = Math.max(0, this.#requests - 1);
        });
        turn.stir();
      },
    };
  }

  /** The process is gone: nobody needs to answer what it asked. */
  end(): void {
    this.#gone.abort();
  }
}
