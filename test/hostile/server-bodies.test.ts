import { connect, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { v1Routes } from "../../src/server/v1/routes.ts";
import { testServer } from "../server/base-support.ts";
import { testCli } from "../support/cli.ts";
import { keyOf, type ServedChild, serveChild } from "../support/served/child.ts";
import { until } from "../support/until.ts";

/** Far less than 32 MB of empty lists took in schema errors. */
const SMALL_HEAP = { environment: { NODE_OPTIONS: "--max-old-space-size=128" } };
const MEBIBYTE = 1_048_576;

const lists = (bytes: number): string => `[${"[],".repeat(bytes / 3)}[]]`;
const keys = (count: number): string => `{${Array.from({ length: count }, (_, at) => `"k${at}":[]`).join(",")}}`;

interface Attack {
  readonly name: string;
  readonly body: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
}

const JSON_TYPE = { "content-type": "application/json" };
const ATTACKS: readonly Attack[] = [
  { name: "wide lists", body: lists(MEBIBYTE - 10) },
  { name: "wide lists in a field", body: `{"permissions":{"allow":${lists(MEBIBYTE - 100)}}}` },
  { name: "many keys", body: keys(60_000) },
  { name: "deep lists", body: "[".repeat(500_000) },
  { name: "deep objects", body: `${'{"a":'.repeat(150_000)}1${"}".repeat(150_000)}` },
  { name: "many wrong elements, as many as may be sent", body: `{"permissions":{"allow":${lists(7_400)}}}` },
  ...["null", "1", '"text"', "[]", "true", '{"__proto__":{"role":"admin"}}'].map((body) => ({ name: body, body })),
  { name: "truncated", body: '{"permissions":{"allow":[' },
  { name: "not JSON", body: "\u0000\u0001\u0002" },
  { name: "plain text", body: "hello", headers: { "content-type": "text/plain" } },
  { name: "no type", body: "{}", headers: { "content-type": "" } },
  {
    name: "gzip bomb",
    body: gzipSync(Buffer.alloc(32 * MEBIBYTE, "[")),
    headers: { ...JSON_TYPE, "content-encoding": "gzip" },
  },
  { name: "a form", body: "a=1", headers: { "content-type": "application/x-www-form-urlencoded" } },
  { name: "a broken form", body: "--x\r\n", headers: { "content-type": "multipart/form-data; boundary=x" } },
];

interface Route {
  readonly method: string;
  readonly path: string;
}

/** Every route that may have a body, according to the server, with a value for each parameter. */
async function routesOf({ url }: ServedChild): Promise<readonly Route[]> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: Record<string, object> };
  const api = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path: path.replaceAll(/\{\w+\}/g, "x_1") })),
  );
  await using server = await testServer();
  const v1 = v1Routes(server.deps).routes.map(({ method, path }) => ({
    method: method === "ALL" ? "POST" : method,
    path: `/v1${path.replaceAll(/:\w+/g, "x_1").replace("*", "x_1")}`,
  }));
  const all = [...api, ...v1].filter(({ method }) => method !== "GET");
  return [...new Map(all.map((route) => [`${route.method} ${route.path}`, route])).values()];
}

test("every route answers a viewer's hostile bodies, and the server keeps running in a small heap", async () => {
  using cli = testCli();
  const viewer = await keyOf(cli, "viewer");
  await using server = await serveChild(cli, SMALL_HEAP);
  const headers = { "x-api-key": viewer };
  const send = (route: Route, { body, headers: own = JSON_TYPE }: Attack): Promise<Response> =>
    fetch(`${server.url}${route.path}`, {
      method: route.method,
      body,
      headers: { ...headers, ...own },
    });
  const isServing = async (): Promise<boolean> =>
    server.isRunning() && (await fetch(`${server.url}/api/whoami`, { headers })).status === 200;

  const routes = await routesOf(server);
  expect(routes.length).toBeGreaterThan(40);
  for (const route of routes)
    for (const attack of ATTACKS) {
      const answer = await send(route, attack);
      const said = `${route.method} ${route.path}: ${attack.name}`;
      expect([400, 403, 404, 413, 415], said).toContain(answer.status);
      expect(await answer.json(), said).toMatchObject({ type: "error", error: { message: expect.any(String) } });
    }
  expect(await isServing()).toBe(true);

  // The largest of all, to the one route that takes a viewer's body.
  const replay = { method: "POST", path: "/api/policy/replay" };
  const large = { name: "large", body: lists(32 * MEBIBYTE) };
  for (const answer of await Promise.all(Array.from({ length: 4 }, () => send(replay, large).catch(() => undefined))))
    // A client that is still writing may find the connection closed.
    expect([413, undefined]).toContain(answer?.status);
  expect(await isServing()).toBe(true);

  // Threads have limits of their own, and work in the program as it is built.
  const json = { ...headers, ...JSON_TYPE };
  const body = JSON.stringify({ permissions: { deny: ["Bash(rm *)"] } });
  for (const answer of await Promise.all([
    fetch(`${server.url}/api/audit/verify`, { headers }),
    fetch(`${server.url}/api/sessions?search=none`, { headers }),
    fetch(`${server.url}${replay.path}`, { method: "POST", body, headers: json }),
  ]))
    expect(answer.status, answer.url).toBe(200);
}, 600_000);

test("a viewer's unfinished bodies do not grow the server", async () => {
  using cli = testCli();
  const viewer = await keyOf(cli, "viewer");
  await using server = await serveChild(cli);
  const sockets: Socket[] = [];
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  const before = server.residentBytes();
  const head = [
    "POST /api/policy/replay HTTP/1.1",
    "host: localhost",
    `x-api-key: ${viewer}`,
    "content-type: application/json",
    `content-length: ${MEBIBYTE}`,
  ];
  const request = Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), Buffer.alloc(MEBIBYTE - 1, " ")]);
  // Accepted ones get no answer: their last byte is missing.
  const answers: string[] = [];
  for (let count = 0; count < 500; count += 1) {
    const socket = connect(server.port, "127.0.0.1");
    sockets.push(socket);
    socket.on("error", () => {});
    socket.once("data", (data) => answers.push(String(data)));
    socket.write(request);
  }
  await until(
    () => answers.length,
    (count) => count > 400,
  );
  const refused = answers.filter((answer) => answer.startsWith("HTTP/1.1 429 "));
  // Accepted ones are answered only after a long stall.
  const others = answers.filter((answer) => !answer.startsWith("HTTP/1.1 429 "));
  expect(others.map((answer) => answer.slice(0, 12)).filter((status) => status !== "HTTP/1.1 408")).toEqual([]);
  expect(refused.length).toBeGreaterThan(others.length);
  expect(refused[0]).toMatch(/retry-after: \d+/i);
  // 500 MB were sent; without a budget the server grew by 1.9 GB. What is refused waits in buffers until it is drained.
  await expect.poll(() => server.residentBytes() - before).toBeLessThan(300 * MEBIBYTE);
  expect((await fetch(`${server.url}/api/whoami`, { headers: { "x-api-key": viewer } })).status).toBe(200);
});
