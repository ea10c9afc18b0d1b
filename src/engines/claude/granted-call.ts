import { resolve } from "node:path";
import type { CallDecision, CallRequest, EngineHost } from "../../core/ports/engine.ts";
import { rowOfPath } from "../../core/permission/protected/match.ts";
import { PLAN_EXIT } from "../builtin-tools.ts";

/** A call that the host allowed, with the engine's name for the tool and the input to run it with. */
export interface GrantedCall {
  readonly callId: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Asks the host about calls, and remembers the last one it allowed. */
export class CallPermits implements Pick<EngineHost, "prepare"> {
  readonly #host: Pick<EngineHost, "prepare">;
  readonly #cwd: string;
  #last: GrantedCall | undefined;
  /** Calls that a person allowed, and for which the engine has its own prompt. */
  readonly #asked = new Set<string>();

  constructor(host: Pick<EngineHost, "prepare">, cwd: string) {
    this.#host = host;
    this.#cwd = cwd;
  }

  async prepare(call: CallRequest, signal: AbortSignal): Promise<CallDecision> {
    const decision = await this.#host.prepare(call, signal);
    const { callId, tool, input } = call;
    if (decision.behavior !== "allow") return decision;
    this.#last = { callId, tool, input: decision.input ?? input };
    if (tool === PLAN_EXIT || this.#isConfiguration(decision.input ?? input)) this.#asked.add(callId);
    return decision;
  }

  /**
   * Whether a person allowed the call. The engine still prompts for plans and configuration changes; the host, which
   * never allows those without a person, answers the prompt.
   */
  wasAsked(callId: string): boolean {
    return this.#asked.has(callId);
  }

  #isConfiguration({ file_path: file, notebook_path: notebook }: CallRequest["input"]): boolean {
    const places = { workspace: this.#cwd, home: this.#cwd };
    return [file, notebook].some((path) => typeof path === "string" && rowOfPath(resolve(this.#cwd, path), places));
  }

  /** A process started for a single call has no other. */
  last(): GrantedCall | undefined {
    return this.#last;
  }
}
