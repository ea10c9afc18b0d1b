import type { AuthProvider } from "../auth/auth-schema.ts";
import type { ModelUsage } from "../events/events.ts";
import type { RequestSize, Proven } from "../money/budget-estimate.ts";
import type { Billing } from "../money/ledger.ts";

/**
 * The port for the model API that agent processes talk to: the only way from an agent to a model. A process gets an
 * address and a token for its session; the real credential stays in the gateway.
 */
export interface Gateway extends AsyncDisposable {
  /**
   * Admits one session to the gateway until `close` is called. Rejects if the session's provider lacks something, so
   * that no process is started in vain.
   */
  admit(session: GatewaySession): Promise<GatewayAccess>;
}

export interface GatewayAccess {
  /** Base URL of the loopback Messages API. */
  readonly url: string;
  readonly token: string;
  /** The upstream supports only the plain Messages API: the engine must not use experimental features. */
  readonly isPlain?: boolean;
  /** Who pays for its requests. */
  readonly billing?: Billing;
  /** The same Messages API for an engine inside the host, which needs no connection to it. Rejects if it is cut. */
  ask?(request: GatewayRequest): Promise<GatewayAnswer>;
  /** Refuses further requests and aborts running ones. */
  close(): Promise<void>;
}

/** A request of the Messages API. */
export interface GatewayRequest {
  readonly isBeta: boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body: string;
  readonly signal: AbortSignal;
}

export interface GatewayAnswer {
  readonly status: number;
  /** Takes the name in lower case. */
  readonly header: (name: string) => string | undefined;
  /** Rejects if the answer breaks off. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** What the runtime offers the gateway for one session. Each method may be awaited before bytes flow on. */
export interface GatewaySession {
  readonly sessionId: string;
  /** The provider that the agent names (default: the host's). */
  readonly provider?: AuthProvider | undefined;
  /**
   * Called before every request, including retries and subagents. A refusal is returned to the agent, and nothing is
   * sent.
   */
  reserve(request: ModelRequestInfo): Promise<Reservation>;
  /** Called when the request has ended, whatever its outcome. `token` is what `reserve` returned. */
  settle(token: string, outcome: ModelRequestOutcome): Promise<void>;
  /**
   * The upstream refused the credential: the turn must end now, whatever the engine would still try. The message says
   * what to do; the session's next request uses the fixed credential.
   */
  credentialRejected(refused: RefusedCredential): void;
  /**
   * The credential has expired, and a request waits for a new one `until` a time in milliseconds since the epoch.
   * Resolves when this is reported; call the resolved function when the request stops waiting for any reason.
   */
  credentialExpired(expired: RefusedCredential & { readonly until: number }): Promise<() => Promise<void>>;
}

/** A credential that the upstream refuses. */
export interface RefusedCredential {
  readonly status: number;
  /** The upstream's message, as a sentence. */
  readonly message: string;
  /** What to do about it; empty if unknown. */
  readonly remedy: string;
  /** It was valid before. */
  readonly isExpired: boolean;
}

export type Reservation =
  | { readonly granted: true; readonly token: string }
  | { readonly granted: false; readonly message: string };

export interface ModelRequestInfo {
  readonly model: string;
  /** The engine's id of the subagent; undefined for the primary thread. */
  readonly engineAgentId: string | undefined;
  /**
   * `main`, `subagent`, `auxiliary`, `compaction`, `count_tokens`, or `unknown`. An untrusted label from the agent
   * process.
   */
  readonly requestClass: string;
  /** Its size; undefined for a free request, such as counting tokens. */
  readonly size: RequestSize | undefined;
  /** Who pays for it. */
  readonly billing: Billing;
  /** The tool results that it is the first to include: those after the model's last message. */
  readonly toolResults: readonly { readonly callId: string; readonly engineName: string }[];
  /** The text that it is the first to include: everything after the model's last message. */
  readonly said: string;
}

export interface ModelRequestOutcome {
  readonly isError: boolean;
  /** Null if no answer came. */
  readonly status: number | null;
  readonly usage: ModelUsage;
  /** Why the model stopped, as reported by the model; null if it did not finish. */
  readonly stopReason: string | null;
  /** How much of the usage the provider has reported. The rest may cost as much as was reserved. */
  readonly proven: Proven;
}
