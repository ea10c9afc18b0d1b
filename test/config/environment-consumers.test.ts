import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { settingsFile } from "../../src/config/settings/settings-schema.ts";
import { environmentDefinition } from "../../src/core/environment/environment.ts";
import { ENVIRONMENT_PAIRS } from "./agent-pairs/environment-pairs.ts";
import { type JsonSchema, leavesOf } from "./agent-pairs/leaves.ts";
import { type Files, files } from "./files.ts";
import { loadTrusted } from "../support/trust.ts";

/**
 * What each field of an environment does is seen in agent-pairs.test.ts, where an agent file has it. The same fields may
 * stand in settings, and in what a program or a client of the server gives.
 */
const inEnvironment = Object.keys(ENVIRONMENT_PAIRS).toSorted();

let tree: Files;
beforeAll(() => {
  tree = files({ "app/.capstan/": "" });
});
afterAll(() => tree[Symbol.dispose]());

const leavesIn = (schema: z.ZodType): string[] =>
  leavesOf(z.toJSONSchema(schema, { io: "input" }) as JsonSchema)
    .filter((leaf) => leaf.startsWith("environment."))
    .toSorted();

test("settings, programs and clients have the fields that agent files are shown to be true with, and no others", () => {
  expect(leavesIn(settingsFile)).toEqual(inEnvironment);
  expect(leavesIn(z.object({ environment: environmentDefinition }))).toEqual(inEnvironment);
});

/** Of a session where one of the files has these lines: the settings of the project, or the agent's. */
async function environmentOf(given: { readonly settings?: string; readonly agent?: string }): Promise<unknown> {
  writeFileSync(tree.at("app/.capstan/config.yaml"), given.settings ?? "");
  writeFileSync(tree.at("app/agent.yaml"), `name: clerk\n${given.agent ?? ""}\n`);
  const options = { cwd: tree.at("app"), environment: { HOME: tree.path }, flags: {}, agentFile: "agent.yaml" };
  return (await loadTrusted(options)).sessionEnvironment;
}

test.each(Object.entries(ENVIRONMENT_PAIRS))(
  "%s does in settings what it does in an agent file",
  async (_, { lines }) => {
    const inSettings = [await environmentOf({ settings: lines[0] }), await environmentOf({ settings: lines[1] })];
    expect(inSettings[0]).not.toEqual(inSettings[1]);
    const inAgent = [await environmentOf({ agent: lines[0] }), await environmentOf({ agent: lines[1] })];
    expect(inSettings).toEqual(inAgent);
  },
);
