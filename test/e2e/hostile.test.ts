import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { openHost } from "../../src/app/open-host.ts";
import type { StartOptions } from "../../src/runtime/session-options.ts";
import { ATTEMPTS, WITHOUT_RULES } from "../support/hostile-attempts.ts";
import { hasSandbox, hostileWorld, type World } from "../support/hostile-world.ts";
import { agent, eventsOf, ofType, testEnvironment } from "../support/host.ts";
import { type ModelRequest, type Reply, say, scriptedModel, toolUse } from "../support/scripted-model.ts";

const SERVER = fileURLToPath(new URL("../support/hostile-server.ts", import.meta.url));
const TOOLS = ["Bash", "Read", "Write", "Edit", "NotebookEdit", "Glob", "Grep", "WebFetch"];

type Setup = Pick<StartOptions, "environment"> & { readonly permissions: StartOptions["agent"]["permissions"] };

const withSandbox = (world: World): Setup => ({
  permissions: { mode: "yolo" },
  environment: {
    // They would be looked at before nearly every attempt; the other set-up has them.
    checkpoints: { mode: "off" },
    sandbox: {
      mode: "required",
      auto_allow_sandboxed: true,
      deny_read: [world.other],
      allow_read: [join(world.other, "public")],
      hide_variables: ["LICENCE"],
      excluded_commands: ["tool-outside"],
    },
  },
});
const withoutSandbox = (): Setup => ({ permissions: { mode: "normal", allow: WITHOUT_RULES }, environment: {} });

test("the list has at least sixty attempts, each with a name of its own", () => {
  expect(new Set(ATTEMPTS.map(({ name }) => name)).size).toBe(ATTEMPTS.length);
  expect(ATTEMPTS.length).toBeGreaterThanOrEqual(60);
});

const WITH = ["with the sandbox, in yolo mode", withSandbox, "blockedWith"] as const;
const WITHOUT = ["without it, in normal mode and with nobody to ask", withoutSandbox, "blockedWithout"] as const;

test.each(hasSandbox ? [WITH, WITHOUT] : [WITHOUT])(
  "a hostile agent gets what the list says, %s",
  async (_how, setup, expectation) => {
    await using world = await hostileWorld();
    process.env["HOME"] = world.person;
    const results = await attempts(world, setup(world));
    const blocked = (of: (typeof ATTEMPTS)[number]): boolean => !world.happened(of, results.get(of.name) ?? "");
    expect(Object.fromEntries(ATTEMPTS.map((attempt) => [attempt.name, blocked(attempt)]))).toEqual(
      Object.fromEntries(ATTEMPTS.map((attempt) => [attempt.name, attempt[expectation]])),
    );
  },
  180_000,
);

/** Has the agent make every attempt, one after another; gives what the model was told of each. */
async function attempts(world: World, { permissions, environment }: Setup): Promise<Map<string, string>> {
  const results = new Map<string, string>();
  let next = 0;
  await using model = await scriptedModel((request): Reply => {
    if (!isAgents(request)) return say("Nothing was found.");
    for (const { id, text } of request.toolResults) results.set(ATTEMPTS[numberOf(id)]?.name ?? "", text);
    const attempt = ATTEMPTS[next];
    next += 1;
    if (attempt === undefined) return say("done");
    return { blocks: [toolUse(attempt.tool, { ...world.fill(attempt.input) }, `toolu_hostile_${next - 1}`)] };
  });
  const environmentOfHost = testEnvironment(model.url);
  const path = `${join(world.capstan, "..", "bin")}:${environmentOfHost["PATH"] ?? ""}`;
  await using host = await openHost({ home: world.capstan, environment: { ...environmentOfHost, PATH: path } });
  const session = await host.startSession({
    agent: agent({
      tools: TOOLS,
      permissions,
      mcp_servers: { hostile: { command: process.execPath, args: [SERVER] } },
    }),
    cwd: world.cwd,
    askPermission: () => ({ behavior: "deny", by: "nobody" }),
    variables: world.variables,
    ...(environment && { environment }),
  });
  world.addSession(session.id);
  expect((await session.send("Do your worst.").result()).text).toBe("done");
  expect([...results.keys()]).toEqual(ATTEMPTS.map(({ name }) => name));
  const [started] = ofType(await eventsOf(host, session.id), "capstan.process_started");
  expect(started?.sandbox).toBe(environment?.sandbox === undefined ? "off" : "on");
  return results;
}

/** The web tools ask a model of their own to read what they found. */
function isAgents({ body }: ModelRequest): boolean {
  return body.tools?.some(({ name }) => name === "Bash") === true;
}

function numberOf(id: string): number {
  return Number(id.replace("toolu_hostile_", ""));
}
