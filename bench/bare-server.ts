import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { type SSEStreamingApi, streamSSE } from "hono/streaming";
import type { ApiDeps } from "../src/server/api/deps.ts";
import { apiRoutes } from "../src/server/api/routes.ts";
import { v1Routes } from "../src/server/v1/routes.ts";

/** A server with the same routes but nothing behind them, and an endpoint that broadcasts to many clients. */

const nothing: unknown = new Proxy({}, { get: () => nothing });
const deps = Object.fromEntries(
  ["runtime", "registry", "contents", "clock", "ids", "settings"].map((name) => [name, nothing]),
) as unknown as ApiDeps;
const subscribers = new Set<SSEStreamingApi>();
const app = new Hono();
app.route("/v1", v1Routes(deps));
app.route("/", apiRoutes(deps));
app.get("/bare/stream", (c) =>
  streamSSE(c, async (stream) => {
    subscribers.add(stream);
    await new Promise<void>((resolve) => stream.onAbort(resolve));
    subscribers.delete(stream);
  }),
);
app.post("/bare/publish", async (c) => {
  const { events } = await c.req.json<{ events: readonly { readonly type: string }[] }>();
  for (const [index, event] of events.entries()) {
    const frame = { event: event.type, id: String(index + 1), data: JSON.stringify(event) };
    await Promise.all([...subscribers].map((stream) => stream.writeSSE(frame)));
  }
  return c.json({ subscribers: subscribers.size });
});

serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) =>
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` })),
);
