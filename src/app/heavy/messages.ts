import type { ErrorCode } from "../../core/errors.ts";

/** A job for a thread. */
export interface Asked {
  readonly name: string;
  readonly input: unknown;
}

/** A job's result. */
export interface Said {
  readonly value?: unknown;
  readonly failure?: {
    /** Absent for unexpected errors. */
    readonly code?: ErrorCode;
    readonly message: string;
    readonly data?: Readonly<Record<string, unknown>>;
    readonly retryable?: boolean;
  };
}
