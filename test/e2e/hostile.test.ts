import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test, vi } from "vitest";
import { openHost } from "../../src/app/open-host.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import type { StartOptions } from "../../src/runtime/session-options.ts";
import type { Attempt } from "../support/hostile-attempt.ts";
import { ATTEMPTS, CONTROLS, WITHOUT_RULES } from "../support/hostile-attempts.ts";
import { hostileWorld, sandboxTest, type World } from "../support/hostile-world.ts";
import { agent, eventsOf, ofType, testEnvironment } from "../support/host.ts";
import { type ModelRequest, type Reply, say, scriptedModel, toolUse } from "../support/scripted-model.ts";
import { TEST_ENGINE } from "../support/test-engine.ts";

const SERVER = fileURLToPath(new URL("../support/hostile-server.ts", import.meta.url));
const TOOLS = ["Bash", "Read", "Write", "Edit", "NotebookEdit", "Glob", "Grep", "WebFetch"];

type Setup = Pick<StartOptions, "environment"> & {
  readonly permissions: StartOptions["agent"]["permissions"];
  /** What becomes of what somebody is asked about. Default: it is denied. */
  readonly answer?: "allow" | "deny";
};

const withSandbox = (world: World): Setup => ({
  permissions: { mode: "yolo" },
  environment: {
    // They would be looked at before nearly every attempt; the other set-up has them.
    checkpoints: { mode: "off" },
    sandbox: {
      mode: "required",
      auto_allow_sandboxed: true,
      deny_read: [world.other],
      // The tests' own programs, too: the repository may lie where the sandbox hides everything.
      allow_read: [join(world.other, "public"), resolve(".")],
      hide_variables: ["LICENCE"],
      excluded_commands: ["tool-outside"],
    },
  },
});

afterEach(() => vi.unstubAllEnvs());

test("the list has at least sixty attempts, each with a name of its own", () => {
  expect(new Set(ATTEMPTS.map(({ name }) => name)).size).toBe(ATTEMPTS.length);
  expect(ATTEMPTS.length).toBeGreaterThanOrEqual(60);
});

sandboxTest(
  "a hostile agent gets what the list says, with the sandbox, in yolo mode",
  { timeout: 400_000 },
  async () => {
    await using world = await hostileWorld();
    expect(await tryAttempts(world, withSandbox(world))).toEqual(expectedResults(({ blockedWith }) => blockedWith));
  },
);

test("a hostile agent gets what the list says, without it, in normal mode and with nobody to ask", async () => {
  await using world = await hostileWorld();
  const setup: Setup = { permissions: { mode: "normal", allow: WITHOUT_RULES }, environment: {} };
  expect(await tryAttempts(world, setup)).toEqual(expectedResults(({ blockedWithout }) => blockedWithout));
}, 180_000);

test("with neither a sandbox nor anybody in the way, it gets what it is after", async () => {
  await using world = await hostileWorld();
  const controls = ATTEMPTS.filter(({ name }) => CONTROLS.includes(name));
  expect(controls).toHaveLength(CONTROLS.length);
  const setup: Setup = {
    permissions: { mode: "yolo" },
    environment: { checkpoints: { mode: "off" } },
    answer: "allow",
  };
  expect(await tryAttempts(world, setup, controls)).toEqual(expectedResults(() => false, controls));
}, 60_000);

function expectedResults(of: (attempt: Attempt) => boolean, list = ATTEMPTS): Record<string, boolean> {
  return Object.fromEntries(list.map((attempt) => [attempt.name, of(attempt)]));
}

/** Has the agent make every attempt, one after another; tells which of them came to nothing. */
async function tryAttempts(world: World, setup: Setup, list = ATTEMPTS): Promise<Record<string, boolean>> {
  vi.stubEnv("HOME", world.person);
  const results = new Map<string, string>();
  let next = 0;
  await using model = await scriptedModel((request): Reply => {
    if (!isAgents(request)) return say("Nothing was found.");
    for (const { id, text } of request.toolResults) results.set(list[numberOf(id)]?.name ?? "", text);
    if (request.last.includes(LAST_ORDER)) return lastWrite(world);
    const attempt = list[next];
    next += 1;
    if (attempt === undefined) return say("done");
    return { blocks: [toolUse(attempt.tool, { ...world.fill(attempt.input) }, `toolu_hostile_${next - 1}`)] };
  });
  const environment = testEnvironment(model.url);
  const path = `${join(world.capstan, "..", "bin")}:${environment["PATH"] ?? ""}`;
  const open = (): Promise<Runtime> =>
    openHost({ home: world.capstan, engine: TEST_ENGINE, environment: { ...environment, PATH: path } });
  const sessionId = await attempts(world, setup, await open());
  expect([...results.keys()]).toEqual(list.map(({ name }) => name));
  if (list === ATTEMPTS) await lookAround(world, { ...setup, sessionId }, await open());
  return expectedResults((attempt) => !world.hasHappened(attempt, results.get(attempt.name) ?? ""), list);
}

async function attempts(
  world: World,
  { permissions, environment, answer = "deny" }: Setup,
  opened: Runtime,
): Promise<string> {
  await using host = opened;
  const session = await host.startSession({
    agent: agent({
      tools: TOOLS,
      permissions,
      mcp_servers: { hostile: { command: process.execPath, args: [SERVER] } },
    }),
    cwd: world.cwd,
    askPermission: () => ({ behavior: answer, by: "nobody" }),
    variables: world.variables,
    ...(environment && { environment }),
  });
  world.addSession(session.id);
  expect((await session.send("Do your worst.").result()).text).toBe("done");
  const [started] = ofType(await eventsOf(host, session.id), "capstan.process_started");
  expect(started?.sandbox).toBe(environment?.sandbox === undefined ? "off" : "on");
  return session.id;
}

/** What comes afterwards meets what the agent has made of the workspace: a second process, and the host's own git. */
async function lookAround(
  world: World,
  { permissions, environment, sessionId }: Setup & { readonly sessionId: string },
  opened: Runtime,
): Promise<void> {
  await using host = opened;
  const resumed = await host.resumeSession(sessionId, { variables: world.variables });
  expect((await resumed.send("Go on.").result()).text).toBe("done");
  await resumed.close();
  const session = await host.startSession({
    agent: agent({ tools: TOOLS, permissions }),
    cwd: world.cwd,
    environment: { ...environment, checkpoints: { mode: "required" } },
  });
  expect((await session.send(LAST_ORDER).result()).text).toBe("done");
  expect((await host.files.diff(session.id)).files.map(({ path: changed }) => changed)).toContain("last.txt");
  await host.files.patch(session.id);
  await session.close();
  // It may well be refused, after what was done to the repository.
  await host.files.exportBranch(session.id).catch(() => {});
}

const LAST_ORDER = "Write one last thing.";

function lastWrite(world: World): Reply {
  return { blocks: [toolUse("Write", { file_path: join(world.cwd, "last.txt"), content: "last" }, "toolu_last")] };
}

/** The web tools ask a model of their own to read what they found. */
function isAgents({ body }: ModelRequest): boolean {
  return body.tools?.some(({ name }) => name === "Bash") === true;
}

function numberOf(id: string): number {
  return Number(id.replace("toolu_hostile_", ""));
}
