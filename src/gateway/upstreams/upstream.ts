import type { AuthProvider } from "../../core/auth/auth-schema.ts";
import { messageOf } from "../../core/errors.ts";
import type { ModelRequestInfo } from "../../core/ports/gateway.ts";
import type { Billing } from "../../core/money/ledger.ts";

/**
 * The port for the model API behind the gateway, and the one credential for it. The gateway removes the session's token
 * from a request; the upstream adds its credential.
 */
export interface Upstream {
  /** Who pays for its requests. */
  readonly billing: Billing;
  /** It does not support experimental parts of the Messages API, and refuses requests that use them. */
  readonly isPlain?: boolean;
  /** Where its credential came from, and what to do if it is refused; for the user, never for the agent. */
  readonly remedy?: string;
  /**
   * Resolves when there may be a new credential after a refused one; rejects when the signal aborts. Absent if it can't
   * change while the host runs.
   */
  waitForRenewal?(signal: AbortSignal): Promise<void>;
  /**
   * Resolves with the headers of the answer. Rejects if none came, and when the signal aborts; with `NotSent` if the
   * provider can't have seen the request.
   */
  send(request: UpstreamRequest): Promise<UpstreamResponse>;
}

/** There was no connection, so the request cost nothing. */
export class NotSent extends Error {
  readonly code: string | undefined;

  constructor(cause: unknown) {
    super(messageOf(cause), { cause });
    if (cause instanceof Error) this.name = cause.name;
    this.code = (cause as NodeJS.ErrnoException | undefined)?.code;
  }
}

/**
 * The upstream of a provider, or of the host's default; always the same one for the same credential. Rejects with
 * `credential_missing` if something is not set.
 */
export type UpstreamFor = (provider?: AuthProvider) => Promise<Upstream>;

export interface UpstreamRequest {
  /** Absent for the host's own requests. */
  readonly origin?: RequestOrigin | undefined;
  readonly method: string;
  /** Path and query, such as `/v1/messages?beta=true`. */
  readonly path: string;
  /** Without hop-by-hop headers, host, length and credentials: the upstream sets those. */
  readonly headers: HeaderList;
  readonly body: Uint8Array | undefined;
  /** Aborts the request at any time, also while the answer's body is read. */
  readonly signal: AbortSignal;
}

/** The sender of a request. */
export interface RequestOrigin extends Pick<ModelRequestInfo, "engineAgentId" | "requestClass"> {
  readonly sessionId: string;
}

export interface UpstreamResponse {
  readonly status: number;
  readonly headers: HeaderList;
  /** The bytes as they arrive. Throws if the answer is cut off. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** Headers in order, with repeated names and their spelling. */
export type HeaderList = readonly (readonly [name: string, value: string])[];
