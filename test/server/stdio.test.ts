import { Hono } from "hono";
import { streamSSE } from "hono/streaming";
import { describe, expect, test } from "vitest";
import { serveLines } from "../../src/server/http/stdio.ts";
import { until } from "../support/until.ts";

/** A parent process: it writes lines and reads lines. */
function parent(fetch: (request: Request) => Response | Promise<Response>) {
  const lines: Record<string, unknown>[] = [];
  const written: string[] = [];
  let wake = Promise.withResolvers<void>();
  let isOver = false;
  async function* input(): AsyncGenerator<string> {
    for (;;) {
      for (let line = written.shift(); line !== undefined; line = written.shift()) yield line;
      if (isOver) return;
      await wake.promise;
      wake = Promise.withResolvers();
    }
  }
  const output = async (line: string): Promise<void> => void lines.push(JSON.parse(line) as Record<string, unknown>);
  const over = serveLines({ fetch, headers: { "x-api-key": "local" }, input: input(), output });
  const send = (message: unknown): void => {
    written.push(typeof message === "string" ? message : JSON.stringify(message));
    wake.resolve();
  };
  return {
    lines,
    send,
    async answer(id: number): Promise<Record<string, unknown> | undefined> {
      const found = await until(
        () => lines.find((line) => line["id"] === id),
        (line) => line !== undefined,
      );
      return found;
    },
    close(): Promise<void> {
      isOver = true;
      wake.resolve();
      return over;
    },
  };
}

const request = (id: number, params: unknown) => ({ jsonrpc: "2.0", id, method: "request", params });

function app(): Hono {
  const routes = new Hono();
  routes.post("/echo", async (c) =>
    c.json({ given: await c.req.json(), key: c.req.header("x-api-key"), mark: c.req.header("x-mark") }, 201),
  );
  routes.get("/bytes", (c) => c.body(new Uint8Array([0, 255]), 200, { "content-type": "application/octet-stream" }));
  routes.get("/stream", (c) =>
    streamSSE(c, async (stream) => {
      await stream.writeSSE({ event: "agent.message", id: "1", data: JSON.stringify({ text: "one\n\ntwo" }) });
      await stream.writeSSE({ event: "ping", data: "{}" });
      await stream.writeSSE({ event: "session.status_idle", id: "2", data: "{}" });
    }),
  );
  routes.get("/endless", (c) => streamSSE(c, (stream) => new Promise<void>((resolve) => stream.onAbort(resolve))));
  return routes;
}

describe("the lines of a sidecar", () => {
  test("carry requests with headers, answered under their id, with the sidecar's key", async () => {
    const p = parent(app().fetch);
    p.send(
      request(1, { method: "POST", path: "/echo", body: { a: 1 }, headers: { "x-mark": "m", "x-api-key": "no" } }),
    );
    expect(await p.answer(1)).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: { status: 201, request_id: null, body: { given: { a: 1 }, key: "local", mark: "m" } },
    });
    p.send(request(2, { path: "/bytes" }));
    expect(await p.answer(2)).toMatchObject({ result: { status: 200, body_base64: "AP8=" } });
    await p.close();
  });

  test("carry a stream as notifications, without heartbeats, to its end", async () => {
    const p = parent(app().fetch);
    p.send(request(1, { path: "/stream" }));
    await until(
      () => p.lines,
      (lines) => lines.some(({ method }) => method === "end"),
    );
    expect(p.lines).toEqual([
      { jsonrpc: "2.0", id: 1, result: { status: 200, request_id: null, stream: 1 } },
      {
        jsonrpc: "2.0",
        method: "event",
        params: { stream: 1, event: "agent.message", id: 1, data: { text: "one\n\ntwo" } },
      },
      { jsonrpc: "2.0", method: "event", params: { stream: 1, event: "session.status_idle", id: 2, data: {} } },
      { jsonrpc: "2.0", method: "end", params: { stream: 1 } },
    ]);
    await p.close();
  });

  test("end a canceled stream, and all streams with the input", async () => {
    const p = parent(app().fetch);
    p.send(request(1, { path: "/endless" }));
    p.send(request(2, { path: "/endless" }));
    await p.answer(2);
    p.send({ jsonrpc: "2.0", id: 3, method: "cancel", params: { stream: 1 } });
    await p.answer(3);
    await until(
      () => p.lines,
      (lines) => lines.some(({ method }) => method === "end"),
    );
    await p.close();
    expect(p.lines.filter(({ method }) => method === "end").map(({ params }) => params)).toEqual([
      { stream: 1 },
      { stream: 2 },
    ]);
  });

  test.each([
    ["invalid JSON", "{", -32_700, /not valid JSON/],
    ["another protocol", { id: 7, method: "request" }, -32_600, /jsonrpc/],
    [
      "an unknown method",
      { jsonrpc: "2.0", id: 7, method: "run" },
      -32_601,
      /Unknown method run\. Use request or cancel/,
    ],
    ["a path of another host", request(7, { path: "//evil" }), -32_602, /path: it must begin with one slash/],
    ["an unknown field", request(7, { path: "/echo", verb: "GET" }), -32_602, /verb/],
    ["a body where there is none", request(7, { path: "/echo", body: {} }), -32_602, /GET request cannot have a body/],
  ])("with %s get an error, and the next line works", async (_what, line, code, message) => {
    const p = parent(app().fetch);
    p.send(line);
    p.send(request(8, { path: "/bytes" }));
    await p.answer(8);
    const failed = p.lines.find((answer) => "error" in answer);
    expect(failed).toMatchObject({ error: { code, message: expect.stringMatching(message) } });
    await p.close();
  });
});
