import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Cli, testCli } from "../support/cli.ts";
import { DOWN, ENTER, terminal } from "./ask-terminal.ts";

function project(settings: string): Cli & { write(settings: string): void } {
  const cli = testCli();
  mkdirSync(join(cli.cwd, ".capstan"));
  const write = (text: string): void => writeFileSync(join(cli.cwd, ".capstan/config.yaml"), text);
  write(settings);
  return { ...cli, write };
}

test("at a terminal new content is listed, changed content is shown as a diff, and one question decides", async () => {
  using cli = project("permissions: { allow: [Bash(echo *)] }\n");
  await using first = terminal(cli, ["run", "--rehearsal", "run echo hi"]);
  await first.sees("has not been trusted yet");
  await first.sees('permissions.allow: ["Bash(echo *)"]');
  await first.sees("Trust this file?");
  first.type(ENTER);
  await first.sees("✓ Bash");
  expect(await first.end()).toBe(0);

  // Trusted: nobody is asked again.
  expect((await cli.run(["run", "--rehearsal", "run echo hi"])).stderr).toBe("");

  cli.write("permissions: { allow: [Bash] }\n");
  await using second = terminal(cli, ["chat", "--rehearsal"]);
  await second.sees("has changed since you trusted it");
  await second.sees("-permissions: { allow: [Bash(echo *)] }");
  await second.sees("+permissions: { allow: [Bash] }");
  await second.sees("Trust this file?");
  second.type(`${DOWN.repeat(2)}${ENTER}`);
  expect(await second.end()).toBe(2);
  expect(second.text).toContain("Nothing was trusted or started.");

  await using third = terminal(cli, ["chat", "--rehearsal"]);
  await third.sees("Trust this file?");
  third.type(`${DOWN}${ENTER}`);
  await third.sees("/help");
  third.type(`/quit${ENTER}`);
  expect(await third.end()).toBe(0);
  const { stdout } = await cli.run(["trust", "list", "--json"]);
  expect(stdout.trim().split("\n")).toHaveLength(1);
});

test("trust shows, records, lists and revokes, and config show names what has no effect", async () => {
  using cli = project("permissions: { mode: yolo, deny: [WebFetch] }\n");
  writeFileSync(join(cli.cwd, ".env"), "SERVICE_TOKEN=a-secret-that-nobody-may-see\nCOLOUR=red\n");
  const shown = await cli.run(["config", "show", "--json"]);
  const values = shown.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { key: string; withheld?: string });
  expect(values.filter(({ withheld }) => withheld !== undefined).map(({ key }) => key)).toEqual([
    "SERVICE_TOKEN",
    "COLOUR",
    "permissions.mode",
  ]);
  const trusted = await cli.run(["trust", "--yes", "--json"]);
  const items = trusted.stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { kind: string });
  expect(items.map(({ kind }) => kind)).toEqual(["variables", "settings"]);
  expect(trusted.stdout + shown.stdout).not.toContain("a-secret");
  expect((await cli.run(["trust", "list"])).stdout).toMatch(/project settings .*config\.yaml/);
  expect((await cli.run(["config", "show"])).stdout).toMatch(/^permissions\.mode +project .* yolo$/m);
  const revoked = await cli.run(["trust", "revoke", ".capstan/config.yaml"]);
  expect(revoked.stdout).toBe("✓ .capstan/config.yaml is no longer trusted.\n");
  expect((await cli.run(["trust", "list"])).stdout).not.toContain("config.yaml");
  expect(await cli.run(["trust", "revoke", "."])).toMatchObject({ code: 0 });
  expect(await cli.run(["trust", "revoke", "."])).toMatchObject({ code: 2 });
});
