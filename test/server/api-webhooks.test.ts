import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import Anthropic from "@anthropic-ai/sdk";
import { expect, test } from "vitest";
import { clock } from "../../src/app/clock.ts";
import { sendDeliveries } from "../../src/server/webhooks/sender.ts";
import { people, session } from "../support/api-people.ts";
import { until } from "../support/until.ts";

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function receiver() {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      received.push({ headers: request.headers, body });
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  return { url, received, [Symbol.dispose]: () => void server.close() };
}

test("a webhook that was made here is told of a session, signed, until it is switched off or deleted", async () => {
  await using stack = new AsyncDisposableStack();
  const address = stack.use(await receiver());
  const settings = {
    maxBodyBytes: 1_048_576,
    maxUploadBytes: 1_048_576,
    requestsPerMinute: 100_000,
    allowPrivateAddresses: true,
  };
  const { api, admin, operator } = await people({ ports: { settings } });
  stack.use(api);
  const stop = new AbortController();
  const { webhooks } = api.store.registry;
  const sending = sendDeliveries({ webhooks, clock, allowPrivate: true, lookEveryMs: 5 }, stop.signal);
  stack.defer(async () => {
    stop.abort();
    await sending;
  });

  const made = await admin.post("/api/webhooks", { url: address.url, events: ["session.status_idled"] });
  expect(made.status).toBe(201);
  const { id, secret } = made.body as { id: string; secret: string };
  expect(JSON.stringify((await admin.get("/api/webhooks")).body)).not.toContain(secret);
  expect((await admin.get(`/api/webhooks/${id}`)).body).toMatchObject({ url: address.url, disabled_at: null });

  const first = await session(operator, "hello");
  await until(
    () => address.received.length,
    (count) => count > 0,
  );
  const [{ headers, body } = { headers: {}, body: "" }] = address.received;
  const event = new Anthropic({ apiKey: "none" }).beta.webhooks.unwrap(body, {
    headers: headers as Record<string, string>,
    key: secret,
  });
  expect(event.data).toMatchObject({ type: "session.status_idled", id: first, workspace_id: api.project });
  const deliveries = async () => (await admin.get(`/api/webhooks/${id}/deliveries`)).body.data;
  const told = await until(deliveries, ([last]) => last?.status === "delivered");
  expect(told).toMatchObject([{ status: "delivered", attempts: 1, last_status: 204 }]);

  expect((await admin.post(`/api/webhooks/${id}/disable`)).body.disabled_at).not.toBeNull();
  await session(operator, "nobody is told of this");
  expect(await deliveries()).toEqual(told);
  expect((await admin.post(`/api/webhooks/${id}/enable`)).body.disabled_at).toBeNull();
  const third = await session(operator, "and of this again");
  const again = await until(deliveries, ([last, ...before]) => before.length > 0 && last?.status === "delivered");
  expect(again).toHaveLength(2);
  expect(address.received.map((one) => JSON.parse(one.body).data.id)).toEqual([first, third]);

  expect((await admin.send("DELETE", `/api/webhooks/${id}`)).body).toEqual({ id, deleted: true });
  expect((await admin.get(`/api/webhooks/${id}`)).status).toBe(404);
  expect((await admin.get("/api/webhooks")).body.data).toEqual([]);
});
