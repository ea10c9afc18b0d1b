import type { ErrorCode } from "../../core/errors.ts";

/** A job for a thread. */
export interface HeavyRequest {
  readonly name: string;
  readonly input: unknown;
}

/** A job's result. */
export interface HeavyResult {
  readonly value?: unknown;
  readonly failure?: {
    /** Absent for unexpected errors. */
    readonly code?: ErrorCode;
    readonly message: string;
    readonly data?: Readonly<Record<string, unknown>>;
    readonly retryable?: boolean;
  };
}
