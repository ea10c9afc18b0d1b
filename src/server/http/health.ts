import { Hono } from "hono";
import type { Runtime } from "../../runtime/runtime.ts";
import type { Env } from "./context.ts";
import { ApiFailure } from "./failure.ts";
import type { Streams } from "../stream/streams.ts";

/** Health checks: whether the process is up, and whether it accepts work. */
export function healthRoutes({
  runtime,
  streams,
}: {
  readonly runtime: Runtime;
  readonly streams: Streams;
}): Hono<Env> {
  const routes = new Hono<Env>();
  routes.get("/health", (c) => c.json({ status: "ok" }));
  routes.get("/ready", async (c) => {
    if (streams.closing.aborted)
      throw new ApiFailure("overloaded_error", "The server is shutting down.", { status: 503, retryAfter: 5 });
    try {
      await runtime.sessions({ limit: 1 });
    } catch (thrown) {
      c.get("log")?.error({ err: thrown }, "the store does not respond");
      throw new ApiFailure("overloaded_error", "The store does not respond. See the server's log.", {
        status: 503,
      });
    }
    return c.json({ status: "ready" });
  });
  return routes;
}
