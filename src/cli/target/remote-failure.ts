import { CapstanApiError } from "../../client/index.ts";
import { CapstanError, ERROR_CODES, type ErrorCode } from "../../core/errors.ts";

/** A server that fails or cannot be reached: exit code 3. */
class ServerFailure extends Error {
  override readonly name = "ServerFailure";
  readonly code = "server_failed";
}

/** For responses without an error code. */
const BY_STATUS: Readonly<Partial<Record<number, ErrorCode>>> = {
  400: "invalid_input",
  401: "not_allowed",
  403: "not_allowed",
  404: "not_found",
  405: "unsupported",
  409: "store_conflict",
  413: "too_large",
  429: "too_many",
};

/** Converts a server's error to the error that would occur on this machine, with the same exit code. */
function toLocalError(thrown: unknown): unknown {
  if (!(thrown instanceof CapstanApiError)) return thrown;
  const { code, status, message, retryAfter } = thrown;
  const own = code !== undefined && code in ERROR_CODES ? (code as ErrorCode) : BY_STATUS[status];
  if (own !== undefined)
    return new CapstanError(own, message, { cause: thrown, data: { retryAfterSeconds: retryAfter } });
  const id = thrown.requestId === undefined ? "" : ` (request ${thrown.requestId})`;
  return new ServerFailure(`${message}${id}`, { cause: thrown });
}

/** Awaits a server's answer and converts its errors. */
export async function awaitServer<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (thrown) {
    throw toLocalError(thrown);
  }
}

/** The same for a stream. */
export async function* iterateServer<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  try {
    yield* items;
  } catch (thrown) {
    throw toLocalError(thrown);
  }
}
