import type { CallDecision, CallRequest, EngineHost } from "../../core/engine.ts";
import { PLAN_EXIT } from "./builtin-tools.ts";

/** A call as the host has let it through: with the tool's name as the engine knows it, and the input it is to run with. */
export interface GrantedCall {
  readonly callId: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Asks the host about calls, and remembers the last one that it let through. */
export class Grants implements Pick<EngineHost, "prepare"> {
  readonly #host: Pick<EngineHost, "prepare">;
  #last: GrantedCall | undefined;
  #plan: string | undefined;

  constructor(host: Pick<EngineHost, "prepare">) {
    this.#host = host;
  }

  async prepare(call: CallRequest, signal: AbortSignal): Promise<CallDecision> {
    const decision = await this.#host.prepare(call, signal);
    const { callId, tool, input } = call;
    if (decision.behavior !== "allow") return decision;
    this.#last = { callId, tool, input: decision.input ?? input };
    if (tool === PLAN_EXIT) this.#plan = callId;
    return decision;
  }

  /** Whether the host has let this plan through. The engine asks a person about plans even so, and the host is that. */
  hasPlan(callId: string): boolean {
    return callId === this.#plan;
  }

  /** A process that is there for one call has no other. */
  last(): GrantedCall | undefined {
    return this.#last;
  }
}
