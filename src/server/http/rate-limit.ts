import type { MiddlewareHandler } from "hono";
import type { Clock } from "../../core/ports/clock.ts";
import type { Env } from "./context.ts";
import { ApiFailure } from "./failure.ts";

interface Bucket {
  tokens: number;
  /** Milliseconds since the epoch. */
  at: number;
}

/** Limits requests per minute for each caller. Allows a burst of the whole amount, which then refills evenly. */
export function rateLimit({
  clock,
  requestsPerMinute,
}: {
  readonly clock: Clock;
  readonly requestsPerMinute: number;
}): MiddlewareHandler<Env> {
  const buckets = new Map<string, Bucket>();
  const perMs = requestsPerMinute / 60_000;
  return async (c, next) => {
    const caller = c.get("caller") as Env["Variables"]["caller"] | undefined;
    if (caller === undefined) return next();
    const now = clock.now();
    const bucket = buckets.get(caller.id) ?? { tokens: requestsPerMinute, at: now };
    buckets.set(caller.id, bucket);
    // A clock that jumps back changes nothing.
    bucket.tokens = Math.min(requestsPerMinute, bucket.tokens + Math.max(0, now - bucket.at) * perMs);
    bucket.at = now;
    if (bucket.tokens < 1) {
      const retryAfter = Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1_000));
      throw new ApiFailure(
        "rate_limit_error",
        `This key has made more than ${requestsPerMinute} requests in a minute. Retry in ${retryAfter} s.`,
        { retryAfter },
      );
    }
    bucket.tokens -= 1;
    await next();
  };
}
