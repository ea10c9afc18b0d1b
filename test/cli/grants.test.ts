import { expect, test } from "vitest";
import type { Approval, Grant } from "../../src/core/session/approval.ts";
import { type Cli, testCli } from "../support/cli.ts";
import { call, say, scriptedModel, type ScriptedModel } from "../support/scripted-model.ts";

const model = (): Promise<ScriptedModel> =>
  scriptedModel((request) => {
    const [, command] = /Do: (.*)!/.exec(request.last) ?? [];
    return command === undefined ? say("Done.") : call("Bash", { command });
  });

async function remember(cli: Cli, command: string, scope: string, rule: string): Promise<void> {
  expect((await cli.run(["run", `Do: ${command}!`])).code).toBe(5);
  const { id } = JSON.parse((await cli.run(["approvals", "list", "--json"])).stdout) as Approval;
  const flags = ["--scope", scope, "--rule", rule, "--as", "Anna"];
  expect((await cli.run(["approvals", "answer", id, "allow", ...flags])).code).toBe(0);
}

test("a remembered answer is listed with where it holds, used, shown with what it matches, and revoked", async () => {
  await using upstream = await model();
  using cli = testCli(upstream.url);
  expect((await cli.run(["grants"])).stdout).toBe("No remembered answers.\n");
  await remember(cli, "echo one", "project", "Bash(echo *)");
  expect((await cli.run(["run", "Do: echo two!"])).code).toBe(0);
  expect((await cli.run(["run", "--deny", "Do: touch three!"])).code).toBe(0);

  const listed = await cli.run(["grants", "list"]);
  expect(listed.stdout).toMatch(
    /^[0-9a-f]{8} {2}project default {2}Anna {2}(?:just now|\d+ min ago) {2}(?:just now|\d+ min ago) {2}\d {5}Bash\(echo \*\)$/m,
  );
  const grant = JSON.parse((await cli.run(["grants", "list", "--json"])).stdout) as Grant;
  expect(grant).toMatchObject({ scope: "project", project: "default", sessionId: null, by: "Anna" });
  expect(grant.uses).toBeGreaterThan(0);

  const shown = await cli.run(["grants", "show", grant.id.slice(-8)]);
  expect(shown.stdout).toContain("It would allow 2 recorded calls:");
  expect(shown.stdout).toMatch(/by this grant {2}Bash echo two\n.*Bash echo one\n/);
  expect(shown.stdout).not.toContain("touch three");

  const revoked = await cli.run(["grants", "revoke", grant.id.slice(-8)]);
  expect(revoked.stdout).toBe(`Grant ${grant.id.slice(-8)} revoked: Bash(echo *) needs approval again.\n`);
  expect((await cli.run(["run", "Do: echo two!"])).code).toBe(5);
});

test("a grant of a session holds in that session only", async () => {
  await using upstream = await model();
  using cli = testCli(upstream.url);
  await remember(cli, "echo one", "session", "Bash(echo *)");
  expect((await cli.run(["run", "--continue", "Do: echo two!"])).code).toBe(0);
  expect((await cli.run(["run", "Do: echo three!"])).code).toBe(5);
  const grant = JSON.parse((await cli.run(["grants", "list", "--json"])).stdout) as Grant;
  const shown = JSON.parse((await cli.run(["grants", "show", grant.id, "--json"])).stdout) as { matches: unknown[] };
  expect(shown.matches).toMatchObject([
    { about: "echo two", used: true },
    { about: "echo one", decision: "allow" },
  ]);
});

test("an unknown grant is refused, and a mistake in one id revokes nothing", async () => {
  await using upstream = await model();
  using cli = testCli(upstream.url);
  await remember(cli, "echo one", "always", "Bash(echo one)");
  const { id } = JSON.parse((await cli.run(["grants", "list", "--json"])).stdout) as Grant;
  const { code, stderr } = await cli.run(["grants", "revoke", id, "ffffffff"]);
  expect([code, stderr]).toEqual([2, "capstan: No grant ffffffff found. To list them: capstan grants list\n"]);
  expect((await cli.run(["grants", "list", "--json"])).stdout).toContain(id);
  expect((await cli.run(["grants", "show", "gr"])).stderr).toContain("too short to identify a grant");
});
