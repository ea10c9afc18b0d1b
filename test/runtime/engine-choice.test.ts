import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { HostOptions } from "../../src/app/open-host.ts";
import { parseAgent } from "../../src/core/agent/agent-definition.ts";
import type { Engines } from "../../src/core/ports/engine.ts";
import type { LoggedEvent } from "../../src/core/events/events.ts";
import type { Runtime as Host } from "../../src/runtime/runtime.ts";
import { echoEngine } from "../support/echo-engine.ts";
import { hostOn, theseEngines } from "../support/engine-host.ts";
import { agent, ANY_PRESSURE, ofType, temporaryDirectory, testEnvironment } from "../support/host.ts";
import { say, scriptedModel } from "../support/scripted-model.ts";

interface Place extends AsyncDisposable {
  readonly cwd: string;
  /** Each on the same store. */
  open(engines: Pick<Engines, "load">, options?: HostOptions): Promise<Host>;
}

async function place(): Promise<Place> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(temporaryDirectory());
  const model = stack.use(await scriptedModel(() => say("heard")));
  const cwd = join(directory.path, "workspace");
  mkdirSync(cwd);
  const home = join(directory.path, "home");
  const environment = testEnvironment(model.url);
  const capacity = ANY_PRESSURE;
  const parts = stack.move();
  return {
    cwd,
    open: (engines, options = {}) => hostOn(engines, { home, environment, capacity, ...options }),
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

const both = (seen: string[] = []) => theseEngines(echoEngine("claude", { seen }), echoEngine("direct", { seen }));

/** On which engines the session's processes were started. */
const startedOn = (events: readonly LoggedEvent[]): (string | undefined)[] =>
  ofType(events, "capstan.process_started").map(({ engine }) => engine);

test("a session runs on the engine that its agent names, and no other engine is loaded", async () => {
  await using here = await place();
  const engines = both();
  await using host = await here.open(engines);
  const session = await host.startSession({ agent: agent({ engine: "direct" }), cwd: here.cwd });
  expect((await session.send("hi").result()).text).toBe("direct: hi");
  expect(startedOn(await host.read(session.id))).toEqual(["direct"]);
  expect(new Set(engines.loaded)).toEqual(new Set(["direct"]));
});

test("an agent that names no engine runs on the host's, and stays on it in a host that prefers another", async () => {
  await using here = await place();
  const first = await here.open(both(), { engine: "direct" });
  const unnamed = await first.startSession({ agent: agent(), cwd: here.cwd });
  const named = await first.startSession({ agent: agent({ engine: "claude" }), cwd: here.cwd });
  expect((await unnamed.send("one").result()).text).toBe("direct: one");
  expect((await named.send("one").result()).text).toBe("claude: one");
  await first.close();

  await using second = await here.open(both(), { engine: "claude" });
  const resumed = await second.resumeSession(unnamed.id);
  expect((await resumed.send("two").result()).text).toBe("direct: two");
});

test("an engine that nobody knows is refused with the names of those that there are", async () => {
  expect(() => parseAgent({ ...agent(), engine: "codex" })).toThrow(
    'engine: Unknown engine "codex". Choose one of: claude, direct',
  );
  await using here = await place();
  const options = { engine: "codex" } as unknown as HostOptions;
  await expect(here.open(both(), options)).rejects.toMatchObject({
    code: "invalid_input",
    message: 'engine: Unknown engine "codex". Choose one of: claude, direct',
  });
});

test("what an engine lacks is refused by the field that asks for it, before anything is stored", async () => {
  await using here = await place();
  const lacks = {
    structured_output: { lacks: "returns no structured output" },
    web_search: { lacks: "has no WebSearch" },
  };
  await using host = await here.open(theseEngines(echoEngine("claude"), echoEngine("direct", { lacks })));
  const asking = agent({
    output_schema: { type: "object" },
    tools: ["Read", "WebSearch"],
    subagents: { scout: { description: "Looks.", instructions: "Look.", tools: ["WebSearch"] } },
  });
  const problems = [
    "tools: WebSearch: the direct engine has no WebSearch. Remove it, or choose another engine.",
    "subagents.scout.tools: WebSearch: the direct engine has no WebSearch. Remove it, or choose another engine.",
    "output_schema: the direct engine returns no structured output. Remove it, or choose another engine.",
  ];
  const refusal = { code: "invalid_agent", data: { problems } };
  await expect(host.startSession({ agent: { ...asking, engine: "direct" }, cwd: here.cwd })).rejects.toMatchObject(
    refusal,
  );
  expect(await host.sessions()).toEqual([]);

  const session = await host.startSession({ agent: asking, cwd: here.cwd });
  await expect(session.setEngine("direct")).rejects.toMatchObject(refusal);
  expect(session.engine).toBe("claude");
  expect(ofType(await host.read(session.id), "capstan.engine_changed")).toEqual([]);
});

test("a session that changes its engine between turns goes on with the conversation, and the old process is gone", async () => {
  await using here = await place();
  const seen: string[] = [];
  await using host = await here.open(both(seen));
  const session = await host.startSession({ agent: agent(), cwd: here.cwd });
  await session.send("one").result();
  await session.setEngine("direct");
  expect(seen).toEqual(["open claude: ", "close claude"]);
  expect((await session.send("two").result()).text).toBe("direct: two");
  await session.setEngine("claude");
  expect((await session.send("three").result()).text).toBe("claude: three");
  expect(seen).toEqual([
    "open claude: ",
    "close claude",
    "open direct: one | claude: one",
    "close direct",
    "open claude: one | claude: one | two | direct: two",
  ]);
  const events = await host.read(session.id);
  expect(ofType(events, "capstan.engine_changed")).toMatchObject([
    { engine: "direct", from: "claude" },
    { engine: "claude", from: "direct" },
  ]);
  expect(startedOn(events)).toEqual(["claude", "direct", "claude"]);
});

test("a turn that is under way ends on the engine that it began on, and the next one has the other", async () => {
  await using here = await place();
  const seen: string[] = [];
  const held = Promise.withResolvers<void>();
  const claude = echoEngine("claude", { seen, hold: () => held.promise });
  await using host = await here.open(theseEngines(claude, echoEngine("direct", { seen })));
  const session = await host.startSession({ agent: agent(), cwd: here.cwd });
  const turn = session.send("one").result();
  await waitFor(session, "capstan.input_delivered");
  await session.setEngine("direct");
  expect([session.engine, session.state.nextEngine, seen]).toEqual(["claude", "direct", ["open claude: "]]);
  held.resolve();
  expect((await turn).text).toBe("claude: one");
  expect([session.engine, session.state.nextEngine]).toEqual(["direct", undefined]);
  expect((await session.send("two").result()).text).toBe("direct: two");
  expect(seen).toEqual(["open claude: ", "close claude", "open direct: one | claude: one"]);
});

test("the same engine again is no change", async () => {
  await using here = await place();
  const seen: string[] = [];
  await using host = await here.open(both(seen));
  const session = await host.startSession({ agent: agent(), cwd: here.cwd });
  await session.send("one").result();
  await session.setEngine("claude");
  expect((await session.send("two").result()).text).toBe("claude: two");
  expect(seen).toEqual(["open claude: "]);
  expect(ofType(await host.read(session.id), "capstan.engine_changed")).toEqual([]);
});

test("another host, lists and forks see the engine that a session changed to", async () => {
  await using here = await place();
  const first = await here.open(both());
  const session = await first.startSession({ agent: agent(), cwd: here.cwd });
  await session.send("one").result();
  await session.setEngine("direct");
  await first.close();

  await using second = await here.open(both());
  expect((await second.summary(session.id))?.agent.engine).toBe("direct");
  const fork = await second.forkSession(session.id);
  expect((await fork.send("forked").result()).text).toBe("direct: forked");
  const resumed = await second.resumeSession(session.id);
  expect(resumed.engine).toBe("direct");
  expect((await resumed.send("two").result()).text).toBe("direct: two");
});

test("a session can be resumed on another engine without the one that it had", async () => {
  await using here = await place();
  const first = await here.open(both());
  const session = await first.startSession({ agent: agent(), cwd: here.cwd });
  await session.send("one").result();
  await first.close();

  const seen: string[] = [];
  await using second = await here.open(theseEngines(echoEngine("direct", { seen })));
  const resumed = await second.resumeSession(session.id, { engine: "direct" });
  expect((await resumed.send("two").result()).text).toBe("direct: two");
  expect(seen).toEqual(["open direct: one | claude: one"]);
});

async function waitFor(session: Awaited<ReturnType<Host["startSession"]>>, type: LoggedEvent["type"]): Promise<void> {
  for await (const event of session.events()) if (event.type === type) return;
}
