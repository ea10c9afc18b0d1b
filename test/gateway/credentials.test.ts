import { describe, expect, test } from "vitest";
import { CredentialWait } from "../../src/gateway/credentials/credential-wait.ts";
import { apiError, say, scriptedModel } from "../support/scripted-model.ts";
import { ask, gatewayTo, ledger, rawServer } from "./support.ts";

describe("a credential that the upstream refuses", () => {
  test.each([
    [401, "authentication_error", "invalid x-api-key"],
    [403, "permission_error", "Your organization is disabled."],
  ])("with %i ends the turn: the agent is told once and for all", async (status, type, message) => {
    await using model = await scriptedModel(() =>
      apiError(status, type, message, { "x-should-retry": "true", "request-id": "req_7" }),
    );
    await using fixture = await gatewayTo(model.url);
    const answer = await ask(fixture.access.url, { token: fixture.access.token });
    expect(answer).toMatchObject({
      status: 403,
      headers: { "x-should-retry": "false", "request-id": "req_7" },
      error: { type, message },
    });
    const said = /[.]$/.test(message) ? message : `${message}.`;
    expect(fixture.session.rejected).toEqual([{ status, message: said, remedy: "", isExpired: false }]);
    expect(fixture.session.expired).toEqual([]);
  });

  test.each(["<html>no</html>", "", '{"error":"no"}', "null"])("says so when the reason is %j", async (body) => {
    await using upstream = await rawServer((_req, res) => void res.writeHead(401).end(body));
    await using fixture = await gatewayTo(upstream.url);
    const answer = await ask(fixture.access.url, { token: fixture.access.token });
    expect(answer).toMatchObject({ status: 403, error: { type: "permission_error" } });
    expect(answer.error.message).toContain("401");
    expect(fixture.session.rejected).toMatchObject([{ status: 401 }]);
  });

  test("is tried again by the next request, because it may have been repaired", async () => {
    await using model = await scriptedModel(({ index }) =>
      index === 0 ? apiError(401, "authentication_error", "no") : say("hello"),
    );
    await using fixture = await gatewayTo(model.url);
    await ask(fixture.access.url, { token: fixture.access.token });
    expect((await ask(fixture.access.url, { token: fixture.access.token })).status).toBe(200);
  });
});

/** A gateway with two sessions, a clock that the test turns, and an upstream that answers the first request so. */
async function pausedGateway(status: number, headers: Record<string, string>) {
  const clock = { time: 1_000_000, now: () => clock.time };
  const model = await scriptedModel(({ index }) =>
    index === 0 ? apiError(status, "original_error", "slow down", headers) : say("hello"),
  );
  const fixture = await gatewayTo(model.url, { clock });
  const other = ledger();
  const access = await fixture.gateway.admit(other);
  return {
    clock,
    model,
    other,
    first: () => ask(fixture.access.url, { token: fixture.access.token }),
    second: () => ask(access.url, { token: access.token }),
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

describe("a pause that the upstream asks for", () => {
  test.each([
    [429, "rate_limit_error"],
    [529, "overloaded_error"],
  ])("with %i and retry-after holds every session until it is over", async (status, type) => {
    await using scene = await pausedGateway(status, { "retry-after": "30" });
    const original = await scene.first();
    expect(original).toMatchObject({
      status,
      headers: { "retry-after": "30" },
      error: { type: "original_error", message: "slow down" },
    });
    scene.clock.time += 10_500;
    expect(await scene.second()).toMatchObject({ status, headers: { "retry-after": "20" }, error: { type } });
    expect(await scene.first()).toMatchObject({ status });
    expect(scene.model.requests).toHaveLength(1);
    expect(scene.other.reserved).toEqual([]);
    scene.clock.time += 19_500;
    expect((await scene.second()).status).toBe(200);
    expect(scene.model.requests).toHaveLength(2);
  });

  test("of hours is passed on as it is, to every session", async () => {
    await using scene = await pausedGateway(429, { "retry-after": "14400" });
    expect(await scene.first()).toMatchObject({ status: 429, headers: { "retry-after": "14400" } });
    expect(await scene.second()).toMatchObject({ status: 429, headers: { "retry-after": "14400" } });
    expect(scene.model.requests).toHaveLength(1);
  });

  test("may be given as a date", async () => {
    await using scene = await pausedGateway(429, { "retry-after": new Date(1_000_000 + 60_000).toUTCString() });
    await scene.first();
    expect(await scene.second()).toMatchObject({ status: 429, headers: { "retry-after": "60" } });
  });

  test.each(["", "soon", "-5", "Infinity"])("of %j does not hold for longer than a second", async (value) => {
    await using scene = await pausedGateway(429, { "retry-after": value });
    await scene.first();
    scene.clock.time += 1000;
    expect((await scene.second()).status).toBe(200);
  });

  test("with 429 and no time holds for a second", async () => {
    await using scene = await pausedGateway(429, {});
    await scene.first();
    expect(await scene.second()).toMatchObject({ status: 429, headers: { "retry-after": "1" } });
    scene.clock.time += 1000;
    expect((await scene.second()).status).toBe(200);
  });

  test("with 529 and no time holds nobody", async () => {
    await using scene = await pausedGateway(529, {});
    await scene.first();
    expect((await scene.second()).status).toBe(200);
  });

  test("with 429 to a count of tokens holds nobody", async () => {
    await using upstream = await rawServer((req, res) => {
      const counting = req.url?.endsWith("count_tokens") === true;
      res.writeHead(counting ? 429 : 200, { "retry-after": "30" }).end("{}");
    });
    await using fixture = await gatewayTo(upstream.url);
    const { url, token } = fixture.access;
    expect((await ask(url, { token, path: "/v1/messages/count_tokens" })).status).toBe(429);
    expect((await ask(url, { token })).status).toBe(200);
  });

  test("is not shortened by a shorter one", () => {
    const wait = new CredentialWait({ now: () => 0 });
    wait.observe(429, [["retry-after", "30"]]);
    wait.observe(529, [["retry-after", "2"]]);
    expect(wait.answer()).toMatchObject({ status: 429, headers: [["retry-after", "30"]] });
  });
});
