import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { describe, expect, test } from "vitest";
import { notificationBody } from "../../src/core/session/notification.ts";
import type { DeliveryRecord, Registry } from "../../src/core/ports/registry.ts";
import { isPrivateAddress } from "../../src/network/private-address.ts";
import { checkedAddress, publicLookup } from "../../src/server/http/address.ts";
import { type SenderDeps, sendDeliveries } from "../../src/server/webhooks/sender.ts";
import { newSigningSecret } from "../../src/server/webhooks/signature.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { temporaryDirectory } from "../support/host.ts";
import { until } from "../support/until.ts";

const clock = { now: () => Date.now() };
const PROJECT = "default";

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An address that answers with these statuses, one after another, and then with the last one. */
async function receiver(...statuses: readonly number[]) {
  const received: Received[] = [];
  let connections = 0;
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      received.push({ headers: request.headers, body });
      const status = statuses[received.length - 1] ?? statuses.at(-1) ?? 200;
      response.writeHead(status, { location: "/elsewhere" }).end("thanks");
    });
  });
  server.on("connection", () => (connections += 1));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  return { url, received, connections: () => connections, [Symbol.dispose]: () => void server.close() };
}

async function scene(url: string, more: Partial<SenderDeps> = {}) {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(temporaryDirectory());
  const store = stack.use(await openSqliteStore({ path: join(directory.path, "capstan.db"), clock }));
  const { webhooks } = store.registry;
  const secret = newSigningSecret();
  await webhooks.create({ id: "whk_1", project: PROJECT, url, secret, events: [], createdAt: 1, disabledAt: null });
  const stop = new AbortController();
  const deps = { webhooks, clock, allowPrivate: true, lookEveryMs: 5, backoff: () => 1, ...more };
  const sending = sendDeliveries(deps, stop.signal);
  stack.defer(async () => {
    stop.abort();
    await sending;
  });
  const parts = stack.move();
  return { webhooks, secret, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

const delivery = (id = "dlv_1"): DeliveryRecord => ({
  id,
  webhookId: "whk_1",
  project: PROJECT,
  type: "session.status_idled",
  body: notificationBody({
    id: "wevt_1",
    sessionId: "sesn_1",
    project: PROJECT,
    at: "2026-01-01T00:00:00.000Z",
    notification: { type: "session.status_idled", facts: { stop_reason: { type: "end_turn" } } },
  }),
  status: "waiting",
  attempts: 0,
  createdAt: 1,
  nextAt: 1,
  lastStatus: null,
  lastError: null,
});

const settled = (webhooks: Registry["webhooks"]): Promise<DeliveryRecord | undefined> =>
  until(
    async () => (await webhooks.deliveries(PROJECT, "whk_1", 1))[0],
    (found) => found !== undefined && found.status !== "waiting",
  );

const lookedUp = (allowPrivate: boolean): Promise<unknown> =>
  new Promise((resolve) => {
    publicLookup(allowPrivate)("localhost", { all: true }, (error, addresses) => resolve(error ?? addresses));
  });

describe("a webhook", () => {
  test("receives a signed body that the official client verifies, and that other keys cannot forge", async () => {
    using address = await receiver(200);
    await using s = await scene(address.url);
    await s.webhooks.enqueue([delivery()]);
    expect(await settled(s.webhooks)).toMatchObject({ status: "delivered", attempts: 1, lastStatus: 200 });
    const [{ headers, body } = { headers: {}, body: "" }] = address.received;
    const client = new Anthropic({ apiKey: "none" });
    const given = headers as Record<string, string>;
    expect(client.beta.webhooks.unwrap(body, { headers: given, key: s.secret })).toEqual({
      type: "event",
      id: "wevt_1",
      created_at: "2026-01-01T00:00:00.000Z",
      data: {
        type: "session.status_idled",
        id: "sesn_1",
        organization_id: "capstan",
        workspace_id: PROJECT,
        stop_reason: { type: "end_turn" },
      },
    });
    const unwrap = (text: string, key: string) => () => client.beta.webhooks.unwrap(text, { headers: given, key });
    expect(unwrap(body, newSigningSecret())).toThrow(/signature/i);
    expect(unwrap(body.replace("sesn_1", "sesn_2"), s.secret)).toThrow(/signature/i);
  });

  test("is retried with the same id after a failure, then recorded as delivered", async () => {
    using address = await receiver(500, 302, 204);
    await using s = await scene(address.url);
    await s.webhooks.enqueue([delivery()]);
    expect(await settled(s.webhooks)).toMatchObject({
      status: "delivered",
      attempts: 3,
      lastStatus: 204,
      lastError: null,
    });
    expect(address.received.map(({ headers }) => headers["webhook-id"])).toEqual(["dlv_1", "dlv_1", "dlv_1"]);
  });

  test("that does not respond delays no others", async () => {
    using address = await receiver(204);
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    using _closing = { [Symbol.dispose]: () => silent.closeAllConnections() };
    await using s = await scene(`http://127.0.0.1:${(silent.address() as AddressInfo).port}/`);
    const created = { project: PROJECT, secret: s.secret, events: [], createdAt: 1, disabledAt: null };
    await s.webhooks.create({ ...created, id: "whk_2", url: address.url });
    const connected = once(silent, "connection");
    // More, and older ones, than are sent at once.
    const ids = Array.from({ length: 30 }, (_, index) => `dlv_${index}`);
    await s.webhooks.enqueue(ids.map((id) => delivery(`${id}_silent`)));
    await connected;
    const begun = performance.now();
    await s.webhooks.enqueue(ids.map((id) => ({ ...delivery(id), webhookId: "whk_2", createdAt: 2 })));
    await until(
      () => address.received.length,
      (count) => count === ids.length,
    );
    // Far less than a silent one is waited for.
    expect(performance.now() - begun).toBeLessThan(5_000);
    silent.close();
  });

  test("fails after the last attempt, with the reason in the deliveries' log", async () => {
    await using s = await scene("http://127.0.0.1:1/", { backoff: (attempts) => (attempts < 2 ? 1 : undefined) });
    await s.webhooks.enqueue([delivery()]);
    expect(await settled(s.webhooks)).toMatchObject({
      status: "failed",
      attempts: 2,
      lastStatus: null,
      lastError: expect.stringContaining("ECONNREFUSED"),
    });
  });

  test("that answers 410 gets no more deliveries", async () => {
    using address = await receiver(410);
    await using s = await scene(address.url);
    await s.webhooks.enqueue([delivery()]);
    expect(await settled(s.webhooks)).toMatchObject({ status: "failed", lastStatus: 410 });
    expect((await s.webhooks.get(PROJECT, "whk_1"))?.disabledAt).toEqual(expect.any(Number));
    await s.webhooks.enqueue([delivery("dlv_2")]);
    expect(await s.webhooks.due(clock.now(), { limit: 10, limitEach: 10, except: [], leaseMs: 1 })).toEqual([]);
    expect(address.received.length).toBe(1);
  });

  test("in a private network is not contacted unless allowed, whatever its name", async () => {
    using address = await receiver(200);
    // The name of this machine leads to it, or to nothing, which only its lookup can tell.
    const url = address.url.replace("http://127.0.0.1", `https://${hostname()}`);
    await using s = await scene(url, { allowPrivate: false, backoff: () => undefined });
    await s.webhooks.enqueue([delivery()]);
    expect(await settled(s.webhooks)).toMatchObject({
      status: "failed",
      lastStatus: null,
      lastError: expect.stringMatching(/points to this machine|ENOTFOUND|EAI_AGAIN/),
    });
    expect([address.connections(), address.received]).toEqual([0, []]);
  });

  test("of an address that was stored while private ones were allowed is not connected to afterwards", async () => {
    using address = await receiver(200);
    const url = address.url.replace("http:", "https:");
    await using s = await scene(url, { allowPrivate: false, backoff: () => undefined });
    await s.webhooks.enqueue([delivery()]);
    expect(await settled(s.webhooks)).toMatchObject({
      status: "failed",
      lastError: expect.stringContaining("points to this machine"),
    });
    expect(address.connections()).toBe(0);
  });

  test("is connected to at an address that was checked in the same lookup", async () => {
    expect(await lookedUp(true)).toContainEqual({
      address: expect.stringMatching(/^(?:127\.|::1$)/),
      family: expect.any(Number),
    });
    expect(await lookedUp(false)).toMatchObject({ message: expect.stringContaining("points to this machine") });
  });
});

describe("an address", () => {
  test.each([
    "http://example.com/",
    "https://127.0.0.1/",
    "https://10.1.2.3/",
    "https://169.254.169.254/latest/meta-data",
    "https://[::1]/",
    "https://[::ffff:192.168.0.1]/",
    "https://[fd00::1]/",
    "https://0x7f000001/",
    "https://2130706433/",
    "https://localhost/",
    "https://api.localhost/",
    "https://me:secret@example.com/",
    "ftp://example.com/",
    "not an address",
  ])("%s is rejected", (text) => {
    expect(() => checkedAddress(text, false)).toThrow(expect.objectContaining({ code: "invalid_input" }));
  });

  test("outside is accepted, and one inside if allowed", () => {
    expect(checkedAddress("https://example.com/hook?a=1", false).href).toBe("https://example.com/hook?a=1");
    expect(checkedAddress("http://127.0.0.1:8080/", true).port).toBe("8080");
  });

  test("is private in any address family", () => {
    expect(
      `::ffff:10.0.0.1 ::ffff:7f00:1 64:ff9b::a00:1 64:ff9b:1::1 2002:7f00:1:: 2001::7f00:1 :: ::1 ::7f00:1
       ::10.0.0.1 ::ffff:0:127.0.0.1 ::ffff:0:8.8.8.8 fe80::1 fe80::1%eth0 fec0::1 feff::1 fd00::1 ff02::1
       100::1 100:0:0:1::1 2001:2::1 2001:10::1 2001:20::1 2001:db8::1 3fff::1 5f00::1 4000::1 1::1
       192.88.99.1 240.0.0.1 255.255.255.255 0.1.2.3 100.64.0.1 169.254.169.254 192.0.0.8 198.19.0.1 224.0.0.1`
        .split(/\s+/)
        .filter((address) => !isPrivateAddress(address)),
    ).toEqual([]);
    const outside = ["93.184.216.34", "2606:4700::1111", "2001:4860:4860::8888", "::ffff:93.184.216.34", "2a00::1"];
    expect(outside.filter(isPrivateAddress)).toEqual([]);
  });
});
