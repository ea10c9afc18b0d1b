import { expect, test } from "vitest";
import { checkAgent } from "../../src/app/check/check-stored-agent.ts";
import { parseAgent } from "../../src/core/agent/agent-definition.ts";
import { parseEnvironment } from "../../src/core/environment/environment.ts";
import { type ApiApp, apiApp, type Person } from "../support/api-app.ts";
import { echoEngine } from "../support/echo-engine.ts";
import { hostOn, theseEngines } from "../support/engine-host.ts";
import { agent, ofType, temporaryDirectory, testEnvironment } from "../support/host.ts";
import { say, scriptedModel } from "../support/scripted-model.ts";

const LACKS = { skills: { lacks: "loads no skills" }, web_search: { lacks: "has no WebSearch" } };

interface World extends AsyncDisposable {
  readonly app: ApiApp;
  readonly admin: Person;
}

/** The real app on a host with two engines at the port. */
async function world(): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(temporaryDirectory());
  const model = stack.use(await scriptedModel(() => say("heard")));
  const engines = theseEngines(echoEngine("claude"), echoEngine("direct", { lacks: LACKS }));
  const environment = testEnvironment(model.url);
  const runtime = stack.use(await hostOn(engines, { home: directory.path, environment }));
  const app = stack.use(await apiApp({ ports: { runtime } }));
  const parts = stack.move();
  return { app, admin: await app.as("admin"), [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

async function idle({ app }: World, id: string): Promise<void> {
  for await (const event of app.deps.runtime.events(id)) if (event.type === "session.status_idle") return;
}

test("starts a session on an engine, shows it, and changes it between turns", async () => {
  await using here = await world();
  const { admin, app } = here;
  const made = await admin.post("/api/sessions", { engine: "direct", message: "one" });
  expect([made.status, made.body.engine, made.body.agent.engine]).toEqual([201, "direct", "direct"]);
  const { id } = made.body as { id: string };
  await idle(here, id);
  const changed = await admin.send("PATCH", `/api/sessions/${id}`, { engine: "claude" });
  expect([changed.status, changed.body.engine]).toEqual([200, "claude"]);
  expect([changed.body.state.engine, changed.body.state.next_engine]).toEqual(["claude", null]);
  const listed = await admin.get("/api/sessions");
  expect(listed.body.data.map((session: { engine: string }) => session.engine)).toEqual(["claude"]);
  expect(ofType(await app.deps.runtime.read(id), "capstan.engine_changed")).toMatchObject([
    { engine: "claude", from: "direct" },
  ]);
});

test("sessions of a saved agent run on the engine it names", async () => {
  await using here = await world();
  const { admin } = here;
  const stored = await admin.post("/api/agents", { definition: agent({ engine: "direct" }) });
  expect([stored.status, stored.body.definition.engine]).toEqual([201, "direct"]);
  const made = await admin.post("/api/sessions", { agent: { id: stored.body.id as string } });
  expect(made.body.engine).toBe("direct");
});

test("rejects an unknown engine, and one that cannot do what the agent needs, by name", async () => {
  await using here = await world();
  const { admin } = here;
  const unknown = await admin.post("/api/sessions", { engine: "codex" });
  expect([unknown.status, unknown.body.error.message]).toEqual([
    400,
    expect.stringContaining('engine: Unknown engine "codex". Choose one of: claude, direct'),
  ]);
  const definition = agent({ tools: ["WebSearch"] });
  const lacking = await admin.post("/api/sessions", { agent_definition: { ...definition, engine: "direct" } });
  const refusal = expect.stringContaining("tools: WebSearch: the direct engine has no WebSearch");
  expect([lacking.status, lacking.body.error.message]).toEqual([400, refusal]);
  const fitting = await admin.post("/api/sessions", { agent_definition: definition });
  const changed = await admin.send("PATCH", `/api/sessions/${String(fitting.body.id)}`, { engine: "direct" });
  expect([changed.status, changed.body.error.message]).toEqual([400, refusal]);
  expect((await admin.get(`/api/sessions/${String(fitting.body.id)}`)).body.engine).toBe("claude");
});

test("checking a saved agent reports what its engine cannot do, without a session", async () => {
  using directory = temporaryDirectory();
  const environment = testEnvironment("http://127.0.0.1:1");
  const around = {
    place: parseEnvironment({}),
    environment,
    home: directory.path,
    capstanHome: directory.path,
    secretFiles: [],
    signal: new AbortController().signal,
    credentials: { home: directory.path, environment, auth: {}, dotEnv: undefined },
  };
  const early = agent({ engine: "direct", compact_at: 1_000_000 });
  const { problems } = await checkAgent(parseAgent(early), around);
  expect(problems).toEqual([expect.stringMatching(/^compact_at: the direct engine cannot use 1000000/)]);
});
