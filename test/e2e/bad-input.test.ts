import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { CapstanError } from "../../src/core/errors.ts";
import type { Session } from "../../src/runtime/session.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { killEngine } from "../support/engine-process.ts";
import { agent, eventsOf, ofType, testHost, type TestHost } from "../support/host.ts";
import { apiError, type Fault, type Reply, say } from "../support/scripted-model.ts";

interface FaultCase {
  readonly name: string;
  readonly answer: Fault | Reply;
  readonly code: string;
  /** How many model requests are made at the most before the turn gives up; the host is set to one retry. */
  readonly requests: number;
  /** The session has had no message before. */
  readonly isFirst?: boolean;
  readonly says?: RegExp;
}

const faults: FaultCase[] = [
  { name: "400", answer: apiError(400, "invalid_request_error", "bad request"), code: "model_failed", requests: 4 },
  {
    name: "401",
    answer: apiError(401, "authentication_error", "invalid x-api-key"),
    // It was good for the message before.
    code: "credential_expired",
    requests: 1,
  },
  {
    name: "403",
    answer: apiError(403, "permission_error", "not allowed"),
    code: "credential_rejected",
    requests: 1,
    says: /refused access \(403\): not allowed/i,
  },
  {
    name: "403 for an account without credit",
    answer: apiError(403, "permission_error", "Your credit balance is too low."),
    code: "credential_rejected",
    requests: 1,
    says: /^The account may not spend more .*Check the account's credit/,
  },
  { name: "404", answer: apiError(404, "not_found_error", "model: no-such-model"), code: "model_unknown", requests: 2 },
  {
    name: "413",
    answer: apiError(413, "request_too_large", "too large"),
    code: "model_failed",
    requests: 1,
    // After a longer conversation the CLI would first try to shorten it.
    isFirst: true,
  },
  { name: "429", answer: apiError(429, "rate_limit_error", "slow down"), code: "model_failed", requests: 2 },
  {
    name: "429 with retry-after",
    answer: apiError(429, "rate_limit_error", "slow down", { "retry-after": "1" }),
    code: "model_failed",
    requests: 2,
  },
  { name: "529", answer: apiError(529, "overloaded_error", "overloaded"), code: "model_failed", requests: 3 },
  { name: "500", answer: apiError(500, "api_error", "oops"), code: "model_failed", requests: 2 },
  {
    name: "garbage",
    answer: { status: 200, headers: { "content-type": "text/event-stream" }, body: "what is this?" },
    code: "model_failed",
    requests: 6,
  },
  {
    name: "a stream that is always cut",
    answer: say("never whole", { dropAfter: 3 }),
    code: "model_failed",
    requests: 6,
  },
  { name: "a refusal", answer: say("I will not.", { stopReason: "refusal" }), code: "refusal", requests: 3 },
  // The last one, because the credential has to wait from then on.
  {
    name: "429 for an hour",
    answer: apiError(429, "rate_limit_error", "slow down", { "retry-after": "3600" }),
    code: "model_failed",
    requests: 1,
  },
];

describe("the model API", () => {
  /** One session for nearly all of them, because each must leave it so that it goes on. */
  let t: TestHost;
  let shared: Session;
  const start = (): Promise<Session> => t.host.startSession({ agent: agent(), cwd: t.cwd });
  beforeAll(async () => {
    t = await testHost(() => say("ok"));
    shared = await start();
  });
  afterAll(() => t[Symbol.asyncDispose]());

  test.for(faults)("answering with $name ends the turn with a reason, and the session goes on", async (fault) => {
    const { name, answer, code, requests, isFirst = false, says } = fault;
    const session = isFirst ? await start() : shared;
    t.model.script = () => answer;
    const before = t.model.requests.length;
    const failed = await session
      .send(`Do it: ${name}.`)
      .result()
      .catch((thrown: unknown) => thrown);
    if (code === "refusal") expect(failed).toMatchObject({ stopReason: { type: "refusal" } });
    else expect(failed).toMatchObject({ code, message: expect.stringMatching(says ?? /[.!]/) as string });
    expect(t.model.requests.length - before).toBeLessThanOrEqual(requests);

    const events = await eventsOf(t.host, session.id);
    expect(events.at(-1)).toMatchObject({
      type: "session.status_idle",
      stop_reason: { type: code === "refusal" ? "refusal" : "retries_exhausted" },
    });
    const sent = events.findLastIndex(({ type }) => type === "user.message");
    const errors = ofType(events.slice(sent), "session.error").map(({ error }) => error);
    const last = errors.at(-1);
    if (code !== "refusal") {
      expect(last).toMatchObject({ code, retry_status: { type: "exhausted" } });
      expect(last?.retries).toBe(errors.length - 1);
    }
    expect(JSON.stringify(events)).not.toContain("sk-ant-test-key");

    t.model.script = () => say("back again");
    // A credential that was told to wait for an hour is still waiting.
    if (name === "429 for an hour") return;
    expect((await session.send("And now?").result()).text).toBe("back again");
    expect(t.model.requests.at(-1)?.transcript).toContain(`Do it: ${name}.`);
  });
});

test("an upstream that stalls is given up by the gateway", async () => {
  await using t = await testHost(
    (request) => (request.index === 0 ? say("stalls", { stallAfter: 3 }) : say("back again")),
    {
      upstreamIdleMs: 300,
    },
  );
  const session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
  expect((await session.send("Do it.").result()).text).toBe("back again");
});

test("a missing working directory is named, and not taken for a missing program", async () => {
  await using t = await testHost(() => say("ok"));
  const cwd = join(t.cwd, "gone");
  await expect(t.host.startSession({ agent: agent(), cwd })).rejects.toMatchObject({
    code: "cwd_missing",
    message: expect.stringContaining(cwd) as string,
  });
  mkdirSync(cwd);
  const session = await t.host.startSession({ agent: agent(), cwd });
  rmSync(cwd, { recursive: true });
  await session.hibernate();
  await expect(session.send("Hello.").result()).rejects.toMatchObject({ code: "cwd_missing" });
  expect(ofType(await eventsOf(t.host, session.id), "session.status_idle").at(-1)?.stop_reason.type).toBe(
    "retries_exhausted",
  );
});

const wrong: [name: string, given: Parameters<typeof agent>[0], code: string, says: string][] = [
  ["an unknown field", { permisions: {} } as Parameters<typeof agent>[0], "invalid_agent", "permisions"],
  ["a wrong type", { budget: { usd: -1 } }, "invalid_agent", "budget.usd"],
  ["an output schema that is none", { output_schema: { type: "strange" } }, "invalid_schema", "type"],
];
for (const [name, given, code, says] of wrong)
  test(`an agent with ${name} is refused before anything is stored`, async () => {
    await using t = await testHost(() => say("ok"));
    await expect(t.host.startSession({ agent: agent(given), cwd: t.cwd })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(says) as string,
    });
    expect(await t.host.sessions()).toEqual([]);
  });

test("a tool that the engine does not have is named with those it has", async () => {
  await using t = await testHost(() => say("ok"));
  await expect(t.host.startSession({ agent: agent({ tools: ["Bsh"] }), cwd: t.cwd })).rejects.toMatchObject({
    code: "invalid_agent",
    message: expect.stringMatching(/Bsh.*Bash/) as string,
  });
});

test("a tool that the agent's provider does not have is named, and nothing is stored", async () => {
  await using t = await testHost(() => say("ok"));
  // Of an engine that has it otherwise.
  const searcher = agent({ engine: "claude", auth: "bedrock", tools: ["Read", "WebSearch"] });
  const started = t.host.startSession({ agent: searcher, cwd: t.cwd });
  await expect(started).rejects.toMatchObject({
    code: "invalid_agent",
    message: expect.stringContaining("tools: WebSearch is not available with bedrock") as string,
  });
  expect(await t.host.sessions()).toEqual([]);
});

test("an empty message is refused and leaves no trace", async () => {
  await using t = await testHost(() => say("ok"));
  const session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
  await expect(session.send("  \n").result()).rejects.toMatchObject({ code: "invalid_input" });
  expect(ofType(await eventsOf(t.host, session.id), "user.message")).toEqual([]);
});

test("an unknown session and a closed one are told apart", async () => {
  await using t = await testHost(() => say("ok"));
  await expect(t.host.resumeSession("sesn_0")).rejects.toMatchObject({ code: "not_found" });
  const session = await t.host.startSession({ agent: agent(), cwd: t.cwd });
  await session.close();
  await expect(session.send("Hello?").result()).rejects.toMatchObject({ code: "session_ended" });
});

test("the agent process killed in a turn is told with its next step, and the next message goes on", async () => {
  await using t = await testHost((request) =>
    request.index === 0 ? say("word ".repeat(500), { pace: 10 }) : say("recovered"),
  );
  const session = await t.host.startSession({ agent: agent({ engine: "claude" }), cwd: t.cwd });
  const turn = session.send("Do it.");
  let killed = false;
  for await (const item of turn) {
    if (item.type !== "event_delta" || killed) continue;
    killed = true;
    await killEngine(t.host, session.id);
  }
  await expect(turn.result()).rejects.toMatchObject({
    code: "engine_lost",
    message: expect.stringContaining("send a message") as string,
  });
  expect((await session.send("Go on.").result()).text).toBe("recovered");
  expect(t.model.requests.at(-1)?.transcript).toContain("Do it.");
});

test("a permission callback that throws denies the call", async () => {
  await using t = await testHost((request) =>
    request.toolResults.length > 0
      ? say("understood")
      : { blocks: [{ type: "tool_use", id: "toolu_1", name: "Bash", input: { command: "touch ran" } }] },
  );
  const session = await t.host.startSession({
    agent: agent({ tools: ["Bash"] }),
    cwd: t.cwd,
    askPermission: () => {
      throw new Error("the inbox is broken");
    },
  });
  expect((await session.send("Run it.").result()).text).toBe("understood");
  expect(existsSync(join(t.cwd, "ran"))).toBe(false);
  const events = await eventsOf(t.host, session.id);
  expect(ofType(events, "agent.tool_result").map((result) => result.outcome)).toEqual(["denied"]);
  expect(t.model.requests.at(-1)?.last).toContain("the inbox is broken");
});

test("a host tool that throws tells the model plainly and the log everything", async () => {
  await using t = await testHost((request) =>
    request.toolResults.length > 0
      ? say("sorry")
      : { blocks: [{ type: "tool_use", id: "toolu_1", name: "mcp__capstan__lookup", input: { key: "k" } }] },
  );
  const lookup = defineTool({
    name: "lookup",
    description: "Looks something up.",
    input: z.object({ key: z.string() }),
    annotations: { readOnly: true },
    handler: () => {
      throw new CapstanError("tool_failed", "no such key");
    },
  });
  const session = await t.host.startSession({ agent: agent(), cwd: t.cwd, tools: [lookup] });
  await session.send("Look.").result();
  expect(t.model.requests.at(-1)?.last).toContain("no such key");
  expect(t.model.requests.at(-1)?.last).not.toContain("at ");
  const [result] = ofType(await eventsOf(t.host, session.id), "agent.tool_result");
  expect(result).toMatchObject({ outcome: "failed", detail: expect.stringContaining("bad-input.test.ts") as string });
  const [used] = ofType(await eventsOf(t.host, session.id), "agent.tool_use");
  expect(used?.name).toBe("lookup");
});

test("a limit in USD is not pretended for a model without a price", async () => {
  await using t = await testHost(() => say("ok"));
  const refused = t.host.startSession({ agent: agent({ model: "other-model-1", budget: { usd: 1 } }), cwd: t.cwd });
  await expect(refused).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringContaining("no known price") as string,
  });
  expect(t.model.requests).toHaveLength(0);
});
