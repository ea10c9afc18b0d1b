import { randomBytes } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import type { Env, Log } from "./context.ts";

/** Requests by method and status, since the start. */
export class RequestCounts {
  readonly #counts = new Map<string, { method: string; status: number; count: number }>();

  add(method: string, status: number): void {
    // Anything may be sent as a method; a metric must not grow with it.
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

/** Gives every request its id, counts it, and writes one line about it: no query, no header, no body. */
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
    // `c.error` is what was thrown, also when the answer says nothing of it.
    if (status >= 500) log.error({ ...fields, err: c.error }, "request failed");
    else log.info(fields, "request");
  };
}

/** A socket is answered by the upgrade itself, which hono does not see. */
function statusOf(c: Context<Env>): number {
  return c.res.status === 200 && c.req.header("upgrade")?.toLowerCase() === "websocket" ? 101 : c.res.status;
}
