/**
 * Every failure that Capstan reports is one class with a string code from one table. The message says what is wrong and
 * what to do next; `data` has the facts for programs.
 */

/**
 * Code → exit code of a command that ends with it (0 done, 1 agent failed, 2 usage, 3 engine or store, 4 limit, 5
 * approval).
 */
export const ERROR_CODES = {
  invalid_input: 2,
  invalid_agent: 2,
  invalid_suite: 2,
  invalid_cassette: 2,
  invalid_schema: 2,
  cwd_missing: 2,
  unsafe_owner: 2,
  credential_missing: 2,
  unsupported: 2,
  not_found: 2,
  session_busy: 3,
  session_ended: 2,
  session_archived: 2,
  too_large: 2,
  too_many: 3,
  not_allowed: 2,
  untrusted: 2,
  lease_lost: 3,
  store_conflict: 3,
  store_locked: 3,
  store_corrupt: 3,
  store_newer: 3,
  store_full: 3,
  store_failed: 3,
  engine_missing: 3,
  engine_failed: 3,
  engine_lost: 3,
  credential_rejected: 3,
  credential_expired: 3,
  model_unknown: 3,
  model_failed: 1,
  model_refused: 1,
  output_invalid: 1,
  tool_failed: 1,
  hook_denied: 1,
  limit_reached: 4,
  workspace_invalid: 2,
  workspace_busy: 3,
  workspace_conflict: 1,
  workspace_failed: 3,
  checkpoint_failed: 3,
  sandbox_missing: 3,
  approval_closed: 2,
  approval_pending: 5,
} as const satisfies Record<string, number>;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface ErrorDetails {
  readonly data?: Readonly<Record<string, unknown>>;
  /** Whether the same call may succeed later without a change by the caller. */
  readonly retryable?: boolean;
  readonly cause?: unknown;
}

export class CapstanError extends Error {
  override readonly name = "CapstanError";
  readonly code: ErrorCode;
  readonly data: Readonly<Record<string, unknown>>;
  readonly retryable: boolean;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.data = details.data ?? {};
    this.retryable = details.retryable ?? false;
  }

  get exitCode(): number {
    return ERROR_CODES[this.code];
  }
}

/** The message of any thrown value. Never throws, because a denial may depend on it. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  try {
    return String(thrown);
  } catch {
    return "an error without a message";
  }
}
