import { randomBytes } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import type { Env, Log } from "./context.ts";

/** Requests by method and status since the server started. */
export class RequestCounts {
  readonly #counts = new Map<string, { method: string; status: number; count: number }>();

  add(method: string, status: number): void {
    // Clients can send any method, so the metric groups unknown ones.
    const known = METHODS.has(method) ? method : "OTHER";
    const key = `${known} ${status}`;
    const entry = this.#counts.get(key) ?? { method: known, status, count: 0 };
    entry.count += 1;
    this.#counts.set(key, entry);
  }

  all(): readonly { readonly method: string; readonly status: number; readonly count: number }[] {
    return [...this.#counts.values()];
  }
}

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Assigns every request an id, counts it, and logs one line: no query, headers or body. */
export function requestLog({ log, counts }: { log: Log; counts: RequestCounts }): MiddlewareHandler<Env> {
  return async (c, next) => {
    const started = performance.now();
    const id = `req_${randomBytes(12).toString("hex")}`;
    c.set("requestId", id);
    c.set("log", log);
    await next();
    c.res.headers.set("request-id", id);
    const status = statusOf(c);
    const { method, path } = c.req;
    counts.add(method, status);
    const caller = (c.get("caller") as Env["Variables"]["caller"] | undefined)?.id;
    const fields = { id, method, path, status, ms: Math.round(performance.now() - started), caller };
    // `c.error` is the original error, even if the answer hides it.
    if (status >= 500) log.error({ ...fields, err: c.error }, "request failed");
    else log.info(fields, "request");
  };
}

/** Sockets are answered by the upgrade, which hono does not see. */
function statusOf(c: Context<Env>): number {
  return c.res.status === 200 && c.req.header("upgrade")?.toLowerCase() === "websocket" ? 101 : c.res.status;
}
