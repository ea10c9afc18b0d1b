import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Cli, collect, testCli } from "../support/cli.ts";
import { obedient, order } from "../support/obedient-model.ts";
import { scriptedModel, type ScriptedModel } from "../support/scripted-model.ts";
import { message, ofType, turn } from "../support/v1-session.ts";
import { recordTrust } from "../support/trust.ts";

let model: ScriptedModel;
let cli: Cli;

const AGENT = `name: reporter
description: Reports.
instructions: Report.
tools: [Read, Write, Bash]
permissions:
  mode: accept-edits
  deny: ["Bash(touch *)"]
environment: { checkpoints: { mode: "off" } }
output_schema:
  type: object
  properties: { city: { type: string } }
  required: [city]
`;

beforeAll(async () => {
  model = await scriptedModel(obedient);
  cli = testCli(model.url);
  // Its settings count as they do for `run`.
  mkdirSync(join(cli.cwd, ".capstan"));
  writeFileSync(join(cli.cwd, ".capstan", "config.yaml"), "model: claude-haiku-4-5\n");
  writeFileSync(join(cli.cwd, "reporter.yaml"), AGENT);
  await recordTrust(cli, "reporter.yaml");
});
afterAll(async () => {
  cli[Symbol.dispose]();
  await model[Symbol.asyncDispose]();
});

/** A server on the same store, and what a program needs of it. */
async function startServer(): Promise<{ readonly url: string; readonly key: string }> {
  const key = (await cli.run(["keys", "create", "--role", "admin"])).stdout.trim();
  const stdout = collect(cli.start(["serve", "--port", "0", "--json", "--log-level", "silent"]).stdout);
  await expect.poll(() => stdout.text, { timeout: 20_000 }).toContain("\n");
  return { key, url: (JSON.parse(stdout.text) as { url: string }).url };
}

test("an agent file becomes an agent that clients use by its id, with its rules, mode and output schema", async () => {
  expect((await cli.run(["agents"])).stdout).toBe("No saved agents. Create one: capstan agents create FILE\n");
  const made = await cli.run(["agents", "create", "reporter.yaml"]);
  expect(made.code, made.stderr).toBe(0);
  expect(made.stdout).toMatch(/^agent_\w+\n$/);
  expect(made.stderr).toContain("Saved as version 1 of reporter.");
  expect(made.stderr).toContain("`environment` was not saved");
  const id = made.stdout.trim();

  const { url, key } = await startServer();
  const client = new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0, logLevel: "off" });
  expect(await client.beta.agents.retrieve(id)).toMatchObject({
    name: "reporter",
    description: "Reports.",
    version: 1,
  });
  const { id: environment_id } = await client.beta.environments.create({ name: "empty" });
  const session = await client.beta.sessions.create({ agent: id, environment_id });
  const events = await turn(client, session.id, [
    message(
      order(
        ["Bash", { command: "touch denied.txt" }],
        ["Write", { file_path: "edited.txt", content: "x\n" }],
        ["StructuredOutput", { city: "Bergen" }],
      ),
    ),
  ]);
  const results = ofType(events, "agent.tool_result");
  expect(JSON.stringify(results[0])).toContain("Bash(touch *)");
  expect(results.slice(0, 2).map(({ is_error }) => is_error === true)).toEqual([true, false]);
  expect(events.at(-1)).toMatchObject({ type: "session.status_idle", stop_reason: { type: "end_turn" } });
  const log = await fetch(`${url}/api/sessions/${session.id}/events`, { headers: { "x-api-key": key } });
  const { data } = (await log.json()) as { data: object[] };
  expect(data.at(-1)).toMatchObject({ type: "session.status_idle", output: { city: "Bergen" } });
  expect(model.requests.at(-1)?.body.model).toBe("claude-haiku-4-5");

  // A new version of it, against the server as well as here.
  const against = { environment: { CAPSTAN_URL: url, CAPSTAN_KEY: key } };
  const describe = (words: string): Promise<void> => {
    writeFileSync(join(cli.cwd, "reporter.yaml"), AGENT.replace("Reports.", words));
    return recordTrust(cli, "reporter.yaml");
  };
  await describe("Reports there.");
  const there = await cli.run(["agents", "create", "reporter.yaml", "--id", id.slice(-8), "--json"], against);
  expect(JSON.parse(there.stdout)).toMatchObject({ id, version: 2, definition: { model: "claude-haiku-4-5" } });
  expect(await client.beta.agents.retrieve(id)).toMatchObject({ version: 2, description: "Reports there." });
  await describe("Reports here.");
  const here = await cli.run(["agents", "create", "reporter.yaml", "--id", id]);
  expect([here.stdout, here.stderr]).toEqual([`${id}\n`, expect.stringContaining("version 3 of reporter")]);
  expect(await client.beta.agents.retrieve(id)).toMatchObject({ version: 3, description: "Reports here." });
  const other = JSON.parse((await cli.run(["agents", "create", "reporter.yaml", "--json"], against)).stdout) as object;
  expect(other).toMatchObject({ version: 1, name: "reporter" });
  const listed = (await cli.run(["agents", "list", "--json"])).stdout.trim().split("\n");
  expect(listed.map((line) => JSON.parse(line) as unknown)).toMatchObject([other, { id, version: 3 }]);
  const table = await cli.run(["agents", "list"], against);
  expect(table.stdout).toMatch(
    /^AGENT +VERSION +CHANGED +MODEL +NAME\n.*\n[0-9a-f]{8} +3 +\S.* claude-haiku-4-5 +reporter\n$/,
  );
});

test("what is wrong is told, and nothing is stored", async () => {
  using fresh = testCli();
  writeFileSync(join(fresh.cwd, "typo.yaml"), "name: typo\ntools: [Read]\npermissions: { deny: [Raed] }\n");
  writeFileSync(join(fresh.cwd, "fine.yaml"), "name: fine\n");
  const wrong: readonly (readonly [args: readonly string[], said: RegExp])[] = [
    [["nowhere.yaml"], /nowhere\.yaml/],
    [["typo.yaml"], /Raed/],
    [["fine.yaml", "--id", "agent_none"], /No saved agent agent_none found\. To list them: capstan agents list/],
  ];
  for (const [args, said] of wrong) {
    const { code, stdout, stderr } = await fresh.run(["agents", "create", ...args]);
    expect(stderr).toMatch(said);
    expect([code, stdout]).toEqual([2, ""]);
  }
  expect((await fresh.run(["agents", "list", "--json"])).stdout).toBe("");
  expect(existsSync(join(fresh.cwd, ".capstan"))).toBe(false);
});
