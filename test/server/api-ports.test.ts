import { mkdirSync, realpathSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { clock } from "../../src/app/clock.ts";
import { WorkerPool } from "../../src/app/heavy/pool.ts";
import { apiPorts } from "../../src/app/serve/serve-ports.ts";
import { parseAgent } from "../../src/core/agent/agent-definition.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { temporaryDirectory } from "../support/host.ts";
import { obedient } from "../support/obedient-model.ts";
import { scriptedModel } from "../support/scripted-model.ts";
import { loadTrusted } from "../support/trust.ts";

/** A server that was started in a project, whose `.env` may have a credential. */
async function portsIn(variables: string) {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(temporaryDirectory());
  const project = join(realpathSync(directory.path), "project");
  mkdirSync(join(project, ".capstan"), { recursive: true });
  writeFileSync(join(project, ".env"), variables);
  const shell = { CAPSTAN_HOME: join(directory.path, "home"), HOME: directory.path };
  const configuration = await loadTrusted({ cwd: project, environment: shell, flags: {} });
  const store = stack.use(await openSqliteStore({ path: join(directory.path, "capstan.db"), clock }));
  const pool = stack.use(new WorkerPool({ home: configuration.home, environment: {} }));
  const ports = apiPorts({ configuration, shell, cwd: project }, store, pool);
  const parts = stack.move();
  return { ports, project, [Symbol.asyncDispose]: () => parts.disposeAsync() };
}

test("hides and uses a project's .env that contains a credential", async () => {
  await using model = await scriptedModel(obedient);
  await using s = await portsIn(`ANTHROPIC_API_KEY=sk-ant-hidden\nANTHROPIC_BASE_URL=${model.url}\n`);
  expect(s.ports.policy?.secretFiles).toContain(join(s.project, ".env"));
  // It was asked: the scripted model has no list.
  await expect(s.ports.models?.()).rejects.toMatchObject({ code: expect.not.stringMatching("credential_missing") });
});

test("without a credential, models cannot be listed", async () => {
  await using s = await portsIn("COLOUR=red\n");
  expect(s.ports.policy?.secretFiles).not.toContain(join(s.project, ".env"));
  await expect(s.ports.models?.()).rejects.toMatchObject({ code: "credential_missing" });
});

test("the default project has no directory on another project's server", async () => {
  await using s = await portsIn("");
  expect((await s.ports.defaults?.(s.project))?.directory).toBe(s.project);
  expect((await s.ports.defaults?.("default"))?.directory).toBeUndefined();
  expect(s.ports.projectOf?.(join(s.project, ".capstan"))).toBe(s.project);
  expect(s.ports.policy?.home).toBe(homedir());
});

test("shows the server's credentials, and checks agents with the project's environment", async () => {
  await using s = await portsIn("ANTHROPIC_API_KEY=sk-ant-hidden-from-everybody\n");
  const [first] = (await s.ports.credentials?.()) ?? [];
  expect(first).toMatchObject({ provider: "api_key", present: true, active: true });
  expect(JSON.stringify(first)).not.toContain("hidden");
  const { signal } = new AbortController();
  const agent = parseAgent({ name: "a", model: "claude-opus-4-8", mcp_servers: { none: { command: "none-such" } } });
  const found = await s.ports.checkAgent?.(agent, { project: s.project, signal });
  expect(found).toMatchObject({ problems: [], notes: [], mcp_servers: [{ name: "none", connected: false }] });
});
