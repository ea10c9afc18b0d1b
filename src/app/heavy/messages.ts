import type { ErrorCode } from "../../core/errors.ts";

/** What a thread is asked to do. */
export interface Asked {
  readonly name: string;
  readonly input: unknown;
}

/** What came of it. */
export interface Said {
  readonly value?: unknown;
  readonly failure?: {
    /** Absent when nobody foresaw it. */
    readonly code?: ErrorCode;
    readonly message: string;
    readonly data?: Readonly<Record<string, unknown>>;
    readonly retryable?: boolean;
  };
}
