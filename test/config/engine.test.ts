import { expect, test } from "vitest";
import type { Flags } from "../../src/config/settings/layers.ts";
import type { Configuration } from "../../src/config/load.ts";
import { loadConfiguration } from "../../src/config/load.ts";
import { files, type Files } from "./files.ts";

interface Given {
  readonly flags?: Flags;
  readonly agentFile?: string;
  readonly variables?: Readonly<Record<string, string>>;
}

/** Nobody has trusted anything there. */
function load(tree: Files, { flags = {}, agentFile, variables = {} }: Given = {}): Promise<Configuration> {
  const environment = { HOME: tree.path, CAPSTAN_HOME: tree.at("home"), PATH: "/usr/bin", ...variables };
  return loadConfiguration({ cwd: tree.at("app"), environment, flags, agentFile });
}

async function chosenEngines(tree: Files, given?: Given): Promise<readonly unknown[]> {
  const configuration = await load(tree, given);
  const shown = (await configuration.values()).find(({ key }) => key === "engine");
  return [
    configuration.agent.engine,
    configuration.settings.engine,
    shown?.value,
    shown?.source.replaceAll(`${tree.path}/`, ""),
  ];
}

const AGENT = "name: clerk\n";

test("the engine is claude where nobody names one, and the agent stays as it is", async () => {
  using tree = files({ "app/agent.yaml": AGENT });
  expect(await chosenEngines(tree, { agentFile: "agent.yaml" })).toEqual([undefined, "claude", "claude", "built in"]);
});

test("the engine comes from the flag, the agent, the variable, the project or the user, in this order", async () => {
  using tree = files({
    "home/config.yaml": "engine: direct\n",
    "app/.capstan/config.yaml": "engine: claude\n",
    "app/agent.yaml": AGENT,
    "app/named.yaml": `${AGENT}engine: direct\n`,
    "other/agent.yaml": AGENT,
  });
  const variables = { CAPSTAN_ENGINE: "direct" };
  expect(await chosenEngines(tree)).toEqual([undefined, "claude", "claude", "project (app/.capstan/config.yaml)"]);
  expect(await chosenEngines(tree, { variables })).toEqual([
    "direct",
    "direct",
    "direct",
    "environment CAPSTAN_ENGINE",
  ]);
  expect(await chosenEngines(tree, { agentFile: "named.yaml" })).toEqual([
    "direct",
    // Other agents of the host name none.
    "claude",
    "direct",
    "agent (app/named.yaml)",
  ]);
  const flags: Flags = { engine: "claude" };
  expect(await chosenEngines(tree, { agentFile: "named.yaml", variables, flags })).toEqual([
    "claude",
    "claude",
    "claude",
    "flag --engine",
  ]);
});

test("a user's setting is in force without a project", async () => {
  using tree = files({ "home/config.yaml": "engine: direct\n", "app/agent.yaml": AGENT });
  expect(await chosenEngines(tree, { agentFile: "agent.yaml" })).toEqual([
    "direct",
    "direct",
    "direct",
    "user (home/config.yaml)",
  ]);
});

test.each(["CODEX", "claude "])(
  "a variable with the engine %j is refused with the names of those that there are",
  async (name) => {
    using tree = files({ "app/agent.yaml": AGENT });
    await expect(load(tree, { variables: { CAPSTAN_ENGINE: name } })).rejects.toMatchObject({
      code: "invalid_input",
      message: `CAPSTAN_ENGINE: Unknown engine ${JSON.stringify(name)}. Choose one of: claude, direct`,
    });
  },
);

test("an empty variable names no engine", async () => {
  using tree = files({ "home/config.yaml": "engine: direct\n", "app/agent.yaml": AGENT });
  expect((await load(tree, { variables: { CAPSTAN_ENGINE: "" } })).settings.engine).toBe("direct");
});

test("an untrusted project chooses an engine, and that is all: what it widens beside it has no effect", async () => {
  using tree = files({ "app/.capstan/config.yaml": "engine: direct\npermissions: { mode: yolo }\n" });
  const { agent, withheld } = await load(tree);
  expect([agent.engine, agent.permissions.mode]).toEqual(["direct", "normal"]);
  expect(withheld.map(({ field }) => field)).toEqual(["permissions.mode"]);
});
