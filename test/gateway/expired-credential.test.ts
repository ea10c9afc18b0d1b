import { expect, test } from "vitest";
import { ExpiredCredential } from "../../src/gateway/credentials/expired-credential.ts";
import { renewingUpstream } from "../../src/gateway/upstreams/renewing-upstream.ts";
import { httpUpstream } from "../../src/gateway/upstreams/http-upstream.ts";
import { apiError, say, scriptedModel } from "../support/scripted-model.ts";
import { until } from "../support/until.ts";
import { ask, gatewayTo, ledger } from "./support.ts";

const HOUR = 3_600_000;

function expiry(): { credential: ExpiredCredential; clock: { time: number; now: () => number } } {
  const clock = { time: 1_000_000, now: () => clock.time };
  return { credential: new ExpiredCredential(clock, HOUR), clock };
}

test.each([
  [401, "invalid x-api-key", false],
  [401, "OAuth token has expired. Please obtain a new token or refresh your existing token.", true],
  [401, "The SSO session associated with this profile has expired.", true],
  [403, "The security token included in the request is expired", true],
  [403, "Your organization is disabled.", false],
  [403, "Your free trial has expired.", false],
])("a %i that says %j from the beginning: expired is %j", (status, message, isExpired) => {
  expect(expiry().credential.isExpired({ status, message })).toBe(isExpired);
});

test("what was accepted and is then refused has expired, but a 403 is about what it may do", () => {
  const { credential } = expiry();
  credential.observe(529);
  expect(credential.isExpired({ status: 401, message: "invalid x-api-key" })).toBe(false);
  credential.observe(200);
  expect(credential.isExpired({ status: 401, message: "invalid x-api-key" })).toBe(true);
  expect(credential.isExpired({ status: 403, message: "not for you" })).toBe(false);
});

test("requests wait from the first refusal on, and when that time is over no more, until one is accepted", () => {
  const { credential, clock } = expiry();
  expect(credential.patience()).toEqual({ leftMs: HOUR, until: 1_000_000 + HOUR });
  clock.time += 1000;
  expect(credential.patience()).toEqual({ leftMs: HOUR - 1000, until: 1_000_000 + HOUR });
  clock.time += HOUR;
  expect(credential.patience()).toBeUndefined();
  credential.observe(200);
  expect(credential.patience()?.leftMs).toBe(HOUR);
});

/** A gateway whose secret the test changes, before a model that takes "good" and "better" until it is told otherwise. */
async function renewable({ isFixed = false, idleTimeoutMs = 120_000 } = {}) {
  const secret = { value: "good", reads: 0 };
  const accepted = new Set(["good", "better"]);
  const model = await scriptedModel(({ headers }) =>
    accepted.has(headers["x-api-key"] ?? "") ? say("hello") : apiError(401, "authentication_error", "no"),
  );
  const upstream = await renewingUpstream({
    billing: "paid",
    source: {
      place: "here",
      remedy: "Mend it.",
      isFixed,
      async read() {
        secret.reads += 1;
        return secret.value;
      },
    },
    make: (value) => httpUpstream({ baseUrl: new URL(model.url), credential: { kind: "api_key", secret: value } }),
  });
  const fixture = await gatewayTo(model.url, { upstream, idleTimeoutMs });
  const other = ledger();
  const access = await fixture.gateway.admit(other);
  const send = (token = fixture.access.token) => ask(access.url, { token });
  expect((await send()).status).toBe(200);
  accepted.delete("good");
  return {
    model,
    secret,
    accepted,
    session: fixture.session,
    other,
    send,
    sendOther: () => send(access.token),
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

test("every session on an expired credential waits, and goes on when there is another", async () => {
  await using scene = await renewable();
  const { session, other } = scene;
  const answers = [scene.send(), scene.sendOther()];
  await until(
    () => session.expired.length + other.expired.length,
    (waiting) => waiting === 2,
  );
  expect([session.overs, other.overs]).toEqual([[], []]);
  scene.secret.value = "better";
  for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
  expect([session.overs.length, other.overs.length]).toEqual([1, 1]);
  expect([...session.rejected, ...other.rejected]).toEqual([]);
  // What was refused is settled, and what is sent again is reserved again.
  expect(session.settled.map(({ outcome: { status } }) => status)).toEqual([200, 401, 200]);
});

test("another secret that is wrong as well does not end the wait", async () => {
  await using scene = await renewable();
  const answer = scene.send();
  await until(
    () => scene.session.expired.length,
    (waits) => waits === 1,
  );
  scene.secret.value = "worse";
  await until(
    () => scene.session.expired.length,
    (waits) => waits === 2,
  );
  scene.secret.value = "better";
  expect((await answer).status).toBe(200);
});

test("a secret that cannot change is not waited for, but said to have expired", async () => {
  await using scene = await renewable({ isFixed: true });
  expect((await scene.send()).status).toBe(403);
  expect(scene.session.expired).toEqual([]);
  expect(scene.session.rejected).toEqual([{ status: 401, message: "no.", remedy: "Mend it.", isExpired: true }]);
});

test("an answer that is waited for long begins with pings, and ends as any stream does", async () => {
  await using scene = await renewable({ idleTimeoutMs: 400 });
  const answer = scene.send();
  await until(
    () => scene.secret.reads,
    (reads) => reads > 2,
  );
  scene.secret.value = "better";
  const { status, text } = await answer;
  expect(status).toBe(200);
  expect(text).toMatch(/^event: ping\ndata: \{"type": "ping"\}\n\n[^]*event: message_start\n[^]*event: message_stop/);
});

test("an error after pings is told as the API tells one in a stream", async () => {
  await using scene = await renewable({ idleTimeoutMs: 400 });
  const answer = scene.send();
  await until(
    () => scene.secret.reads,
    (reads) => reads > 2,
  );
  scene.model.script = () => apiError(529, "overloaded_error", "later");
  scene.secret.value = "better";
  const { text } = await answer;
  expect(text).toMatch(
    /event: error\ndata: \{"type":"error","error":\{"type":"overloaded_error","message":"later"\}\}\n\n$/,
  );
  expect(scene.session.settled.at(-1)?.outcome).toMatchObject({ status: 529, isError: true });
});
