import { CapstanApiError } from "../../client/index.ts";
import { CapstanError, ERROR_CODES, type ErrorCode } from "../../core/errors.ts";

/** A server that cannot be reached, or that fails: exit code 3, as for every failure of the machinery. */
class ServerFailure extends Error {
  override readonly name = "ServerFailure";
  readonly code = "server_failed";
}

/** Where the server gave no code of its own. */
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

/** What a server said, as the same failure would be told on this machine: with its code, and so its exit code. */
function told(thrown: unknown): unknown {
  if (!(thrown instanceof CapstanApiError)) return thrown;
  const { code, status, message, retryAfter } = thrown;
  const own = code !== undefined && code in ERROR_CODES ? (code as ErrorCode) : BY_STATUS[status];
  if (own !== undefined)
    return new CapstanError(own, message, { cause: thrown, data: { retryAfterSeconds: retryAfter } });
  const id = thrown.requestId === undefined ? "" : ` (request ${thrown.requestId})`;
  return new ServerFailure(`${message}${id}`, { cause: thrown });
}

/** What a server answers. */
export async function asked<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (thrown) {
    throw told(thrown);
  }
}

/** The same for what comes piece by piece. */
export async function* askedFor<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item> {
  try {
    yield* items;
  } catch (thrown) {
    throw told(thrown);
  }
}
