import type Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PRICES } from "../../src/core/money/prices.ts";
import { priceOf } from "../../src/core/money/pricing.ts";
import { refusal, type V1App, v1App } from "../support/v1-app.ts";

let app: V1App;
let client: Anthropic;
beforeAll(async () => {
  app = await v1App();
  client = await app.client("viewer");
});
afterAll(() => app[Symbol.asyncDispose]());

test("lists models with a known price, page by page in both directions", async () => {
  const all: string[] = [];
  for await (const { id } of client.beta.models.list({ limit: 4 })) all.push(id);
  expect(all.length).toBeGreaterThan(10);
  expect(new Set(all).size).toBe(all.length);
  for (const id of all) expect(priceOf(id), id).toBeDefined();
  // The newest prices have a model each.
  for (const [index, { model }] of PRICES.slice(0, 5).entries())
    expect(
      all.some((id) => model.test(id)),
      `price ${index}`,
    ).toBe(true);
  const back = await client.beta.models.list({ limit: 2, before_id: all[3] ?? "" });
  expect(back.data.map(({ id }) => id)).toEqual([all[1], all[2]]);
  expect(back).toMatchObject({ first_id: all[1], last_id: all[2], has_more: true });
  expect((await client.beta.models.list({ lifecycle: ["retired"] })).data).toEqual([]);
});

test("retrieves a model, including one with a date", async () => {
  expect(await client.beta.models.retrieve("claude-opus-4-8")).toMatchObject({
    type: "model",
    id: "claude-opus-4-8",
    display_name: "Claude Opus 4.8",
    line: "opus",
    lifecycle: "active",
  });
  expect((await client.beta.models.retrieve("claude-haiku-4-5-20251001")).display_name).toBe(
    "Claude Haiku 4.5 20251001",
  );
  expect((await refusal(client.beta.models.retrieve("gpt-4"))).status).toBe(404);
  expect((await refusal(client.beta.models.list({ after_id: "claude-1" }))).status).toBe(400);
});

test.for(["vaults", "skills", "memory_stores", "messages", "deployments"])(
  "reports that /v1/%s is not supported",
  async (name) => {
    const { status, message, code } = await app.send(`/v1/${name}/x`, { method: "GET" });
    expect(status).toBe(400);
    expect(code).toBe("unsupported");
    expect(message).toContain(`does not support /v1/${name}`);
  },
);

test("unknown paths of the API are not found", async () => {
  expect((await app.send("/v1/nothing", { method: "GET" })).status).toBe(404);
});

test("a key sees its own project and no other workspace", async () => {
  const headers = { "anthropic-workspace-id": "default" };
  expect((await app.send("/v1/models", { method: "GET", headers })).status).toBe(200);
  const other = { "anthropic-workspace-id": "wrkspc_011CZkZaBF1tNoB5wlCeusgy" };
  const { status, message } = await app.send("/v1/models", { method: "GET", headers: other });
  expect(status).toBe(404);
  expect(message).toContain("Omit the header anthropic-workspace-id");
});
