import type { AuthProvider } from "../../core/auth/auth-schema.ts";
import { messageOf } from "../../core/errors.ts";
import type { ModelRequestInfo } from "../../core/ports/gateway.ts";
import type { Billing } from "../../core/money/ledger.ts";

/**
 * The port for what stands behind the gateway: a model API and the one credential for it.
 * The gateway takes the session's token off a request; the upstream puts its credential on.
 */
export interface Upstream {
  /** Who pays for what is asked of it. */
  readonly billing: Billing;
  /** It knows no experimental parts of the Messages API, and refuses requests that have some. */
  readonly isPlain?: boolean;
  /** Where its credential came from, and what to do when it is refused; for the user, never for the agent. */
  readonly remedy?: string;
  /**
   * Resolves when there may be another credential than the one that was refused; rejects when the signal aborts. Absent
   * where it cannot change while the host runs.
   */
  renewed?(signal: AbortSignal): Promise<void>;
  /**
   * Resolves with the headers of the answer. Rejects when none came, and when the signal aborts; with `NotSent` when
   * the provider cannot have seen the request.
   */
  send(request: UpstreamRequest): Promise<UpstreamResponse>;
}

/** There was no connection, so that the request cost nothing. */
export class NotSent extends Error {
  readonly code: string | undefined;

  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
    if (cause instanceof Error) this.name = cause.name;
    this.code = (cause as NodeJS.ErrnoException | undefined)?.code;
  }
}

/**
 * The upstream of a provider, or of the host's own choice; always the same one for the same credential. Rejects with
 * `credential_missing` when something is not set.
 */
export type UpstreamFor = (provider?: AuthProvider) => Promise<Upstream>;

export interface UpstreamRequest {
  /** Absent for what the host asks by itself. */
  readonly origin?: RequestOrigin | undefined;
  readonly method: string;
  /** Path and query, such as `/v1/messages?beta=true`. */
  readonly path: string;
  /** Without hop-by-hop headers, host, length and credentials: those are the upstream's own. */
  readonly headers: HeaderList;
  readonly body: Uint8Array | undefined;
  /** Aborts the request at any time, also while the body of the answer is read. */
  readonly signal: AbortSignal;
}

/** Who asks. */
export interface RequestOrigin extends Pick<ModelRequestInfo, "engineAgentId" | "requestClass"> {
  readonly sessionId: string;
}

export interface UpstreamResponse {
  readonly status: number;
  readonly headers: HeaderList;
  /** The bytes as they arrive. Throws when the answer is cut. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Headers in order, repeated names and their spelling kept. */
export type HeaderList = readonly (readonly [name: string, value: string])[];
