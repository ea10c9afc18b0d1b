import type { AuthProvider } from "../auth/auth-schema.ts";
import type { ModelUsage } from "../events/events.ts";
import type { RequestSize } from "../money/budget-estimate.ts";
import type { Billing } from "../money/ledger.ts";

/**
 * The port for the model API that agent processes talk to: the only way from an agent to a model.
 * A process gets an address and a token made for its session; the real credential stays with the gateway.
 */
export interface Gateway extends AsyncDisposable {
  /**
   * Opens the gateway to one session until `close` is called. Rejects when the session's provider lacks something, so
   * that nobody starts a process in vain.
   */
  admit(session: GatewaySession): Promise<GatewayAccess>;
}

export interface GatewayAccess {
  /** Base URL of the loopback Messages API. */
  readonly url: string;
  readonly token: string;
  /** What stands behind it knows the plain Messages API alone: the engine must not use what is still an experiment. */
  readonly isPlain?: boolean;
  /** Who pays for what is asked of it. */
  readonly billing?: Billing;
  /** Refuses further requests and cuts those under way. */
  close(): Promise<void>;
}

/** What the runtime offers the gateway for one session. Each method may be awaited before bytes flow on. */
export interface GatewaySession {
  readonly sessionId: string;
  /** Whose model API the session uses, as its agent says. Default: the host's. */
  readonly provider?: AuthProvider | undefined;
  /** Asked before every request, retries and subagents included. A refusal is answered to the agent and nothing is sent. */
  reserve(request: ModelRequestInfo): Promise<Reservation>;
  /** Told when the request is over, whatever became of it. `token` is what `reserve` returned. */
  settle(token: string, outcome: ModelRequestOutcome): Promise<void>;
  /**
   * The upstream refused the credential: the turn is to end now, whatever the engine would still try. The message says
   * what to do about it; the next request of the session uses what was mended.
   */
  credentialRejected(refused: RefusedCredential): void;
  /**
   * The credential has expired, and a request waits for another one, `until` a time in milliseconds since the epoch.
   * Resolves when that is told; what it resolves to is to be called when the request waits no more, whatever the reason.
   */
  credentialExpired(expired: RefusedCredential & { readonly until: number }): Promise<() => Promise<void>>;
}

/** A credential that the upstream does not take. */
export interface RefusedCredential {
  readonly status: number;
  /** What the upstream said, as a sentence. */
  readonly message: string;
  /** What to do about it; empty when that is not known. */
  readonly remedy: string;
  /** It was good once. */
  readonly isExpired: boolean;
}

export type Reservation =
  | { readonly granted: true; readonly token: string }
  | { readonly granted: false; readonly message: string };

export interface ModelRequestInfo {
  readonly model: string;
  /** The engine's name for the subagent; undefined for the primary line. */
  readonly engineAgentId: string | undefined;
  /** `main`, `subagent`, `auxiliary`, `compaction`, `count_tokens`, or `unknown`. A label from the agent process, not to be trusted. */
  readonly requestClass: string;
  /** How large it is; nothing for a request that costs nothing, such as counting tokens. */
  readonly size: RequestSize | undefined;
  /** Who pays for it. */
  readonly billing: Billing;
  /** The results of tools that it is the first to read: those that stand after the model's last words. */
  readonly toolResults: readonly { readonly callId: string; readonly engineName: string }[];
  /** The text that it is the first to carry: all that stands after the model's last words. */
  readonly said: string;
}

/** `input`: the answer began, and its end with the final usage did not come. */
export type Proven = "nothing" | "input" | "all";

export interface ModelRequestOutcome {
  readonly isError: boolean;
  /** Null when no answer came. */
  readonly status: number | null;
  readonly usage: ModelUsage;
  /** Why the model stopped, as it said itself; null when it did not come to that. */
  readonly stopReason: string | null;
  /** How much of the usage the provider itself has said. Whatever it has not said may cost as much as was reserved. */
  readonly proven: Proven;
}
