import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { openStore } from "../../src/app/open-store.ts";
import type { AgentInput } from "../../src/core/agent/agent-definition.ts";
import { type EnvironmentDefinition, parseEnvironment } from "../../src/core/environment/environment.ts";
import type { Console } from "./console.ts";
import { FILES } from "./console-story.ts";
import { richRun } from "./suite-run.ts";
import { until } from "./until.ts";

/** Where the interesting pages of a filled console are. */
export interface World {
  readonly mended: string;
  readonly waiting: string;
  readonly reviewed: string;
  readonly agent: string;
  readonly run: string;
}

const MAINTAINER: AgentInput = {
  name: "maintainer",
  description: "Mends what is broken, and says what it did.",
  instructions: "You keep this project in order.\nRun the tests before and after every change.",
  model: "claude-opus-4-8",
  tools: ["Bash", "Read", "Edit", "Write", "Grep", "Glob", "Agent", "AskUserQuestion"],
  permissions: {
    mode: "normal",
    allow: ["Read", "Edit(./**)", "Bash(node --test *)", "Agent"],
    ask: ["Bash(npm publish *)"],
    deny: ["Read(./.env)"],
  },
  budget: { usd: 5 },
  subagents: { reviewer: { description: "Reviews a change.", instructions: "Look for errors.", tools: ["Read"] } },
};

/** The settings that go with it. */
export const WORLD_SETTINGS =
  "budgets:\n  day: { usd: 20 }\n  project: { usd: 500 }\n  agents:\n    maintainer: { usd: 100 }\n";

const COPY = parseEnvironment({ workspace: { kind: "copy", mounts: [{ source: ".", target: "." }] } });

/** A project with a few sessions in every state, an agent with two versions, a run of tests, keys and webhooks. */
export async function fillWorld({ client, directory }: Console): Promise<World> {
  for (const [name, content] of Object.entries(FILES)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), content);
  }
  const { budget: _without, ...first } = MAINTAINER;
  const { id: agent } = await client.agents.create({ definition: first });
  await client.agents.update(agent, { definition: MAINTAINER });
  const start = async (message: string, environment?: EnvironmentDefinition): Promise<string> => {
    const { id } = await client.sessions.create({
      agent: { id: agent },
      message,
      ...(environment !== undefined && { environment }),
    });
    // Sessions that work in one directory take turns.
    await until(
      () => client.sessions.get(id),
      ({ status, state, waiting }) =>
        status === "idle" && state.turns > 0 && (waiting > 0 || state.stop_reason?.type !== "requires_action"),
    );
    return id;
  };
  const mended = await start("The total comes out wrong when somebody buys more than one. Find out why and mend it.");
  const reviewed = await start("Review the last change with two reviewers.");
  const archived = await start("Say hello.");
  await client.sessions.archive(archived);
  // One directory is one session's at a time, and what waits keeps it: the last two work in copies.
  const waiting = await start("Clean up and publish the package.", COPY);
  await start("Choose a colour with me.", COPY);
  await client.keys.create({ name: "build server", role: "operator" });
  await client.webhooks.create({ url: "https://hooks.example.org/capstan", events: [] });
  const { project } = await client.whoami();
  await using store = await openStore(join(directory, "..", "home"), {});
  const run = { ...richRun(), id: "run_world", project };
  await store.suiteRuns.add(run);
  return { mended, waiting, reviewed, agent, run: run.id };
}

/** Every page, by a name for its picture. */
export function pagesOf(world: World): Readonly<Record<string, string>> {
  return {
    sessions: "/",
    "new-session": "/new",
    session: `/sessions/${world.mended}`,
    approval: `/sessions/${world.waiting}`,
    subagents: `/sessions/${world.reviewed}`,
    approvals: "/approvals",
    costs: "/costs",
    agents: "/agents",
    agent: `/agents/${world.agent}`,
    policy: "/policy",
    audit: "/audit",
    "time-line": `/audit/${world.mended}`,
    tests: "/tests",
    "test-run": `/tests/${world.run}`,
    settings: "/settings",
  };
}
