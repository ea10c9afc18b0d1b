import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { collect, exitOf, testCli } from "../support/cli.ts";

/** Nothing but flags and files chooses one. */
const NO_ENGINE = { environment: { CAPSTAN_ENGINE: undefined } };

test("an engine that nobody knows is a usage error that names those that there are", async () => {
  using cli = testCli();
  writeFileSync(join(cli.cwd, "agent.yaml"), "name: clerk\nengine: codex\n");
  const flag = await cli.run(["run", "--rehearsal", "--engine", "codex", "hi"]);
  expect([flag.code, flag.stderr]).toEqual([2, expect.stringContaining("Allowed choices are claude, direct.")]);
  const file = await cli.run(["validate", "agent.yaml"]);
  expect([file.code, file.stderr]).toEqual([
    2,
    expect.stringContaining('agent.yaml:2:9 engine: Unknown engine "codex". Choose one of: claude, direct\n'),
  ]);
  const variable = await cli.run(["config", "show"], { environment: { CAPSTAN_ENGINE: "codex" } });
  expect([variable.code, variable.stderr]).toEqual([
    2,
    expect.stringContaining('CAPSTAN_ENGINE: Unknown engine "codex". Choose one of: claude, direct'),
  ]);
});

test("validate and run refuse, at its place, what the engine of an agent cannot do", async () => {
  using cli = testCli();
  const text = "name: clerk\ninstructions: Hi.\ncompact_at: 20000\n";
  writeFileSync(join(cli.cwd, "agent.yaml"), text);
  const problems = ["agent.yaml:3:13 compact_at: the claude engine cannot use 20000. Use 67000 to 967000."];
  const run = await cli.run(["run", "--rehearsal", "--agent", "agent.yaml", "--trust", "--engine", "claude", "hi"]);
  expect(run.code).toBe(2);
  for (const problem of problems) expect(run.stderr).toContain(problem);
  writeFileSync(join(cli.cwd, "agent.yaml"), `${text}engine: direct\n`);
  expect((await cli.run(["validate", "agent.yaml"], NO_ENGINE)).code).toBe(0);
  writeFileSync(join(cli.cwd, "agent.yaml"), `${text}engine: claude\n`);
  const validated = await cli.run(["validate", "agent.yaml"], NO_ENGINE);
  expect(validated.code).toBe(2);
  for (const problem of problems) expect(validated.stderr).toContain(problem);
});

test("a session and the configuration show the engine", async () => {
  using cli = testCli();
  expect((await cli.run(["run", "--rehearsal", "--engine", "direct", "hi"], NO_ENGINE)).code).toBe(0);
  const listed = JSON.parse((await cli.run(["sessions", "list", "--json"])).stdout) as { id: string; engine: string };
  expect(listed.engine).toBe("direct");
  const shown = await cli.run(["sessions", "show", listed.id]);
  expect(shown.stdout).toContain("agent assistant · engine direct ·");
  expect((await cli.run(["config", "show"], NO_ENGINE)).stdout).toMatch(/^engine +built in +claude$/m);
  const config = await cli.run(["config", "show"], { environment: { CAPSTAN_ENGINE: "direct" } });
  expect(config.stdout).toMatch(/^engine +environment CAPSTAN_ENGINE +direct$/m);
});

test.each([
  { what: "the server's", serve: ["--engine", "direct"], run: [] },
  { what: "the command's", serve: [], run: ["--engine", "direct"] },
])("a session on a server runs on $what engine", async ({ serve, run }) => {
  using cli = testCli();
  const server = cli.start(["serve", "--rehearsal", "--port", "0", "--json", ...serve], NO_ENGINE);
  const stdout = collect(server.stdout);
  await expect.poll(() => stdout.text).toMatch(/\{.*\}\n/);
  const { url } = JSON.parse(stdout.text) as { url: string };
  const key = (await cli.run(["keys", "create", "--role", "admin"])).stdout.trim();
  const environment = { CAPSTAN_ENGINE: undefined, CAPSTAN_URL: url, CAPSTAN_KEY: key };
  expect(await cli.run(["run", ...run, "hi"], { environment })).toMatchObject({ code: 0, stderr: "" });
  const listed = JSON.parse((await cli.run(["sessions", "list", "--json"])).stdout) as { engine: string };
  expect(listed.engine).toBe("direct");
  server.kill("SIGTERM");
  expect(await exitOf(server)).toBe(0);
});

test("a chat shows its engine and changes it, and a list of sessions on several engines shows each one's", async () => {
  using cli = testCli();
  const input = "/engine\nhi\n/engine direct\n/engine claude\n/engine\n/engine codex\n";
  const { code, stdout, stderr } = await cli.run(["chat", "--rehearsal", "--engine", "direct"], {
    ...NO_ENGINE,
    input,
  });
  // In a pipe the first mistake ends it.
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('Unknown engine "codex". Choose one of: claude, direct.'),
  ]);
  const said = [
    "Current engine: direct. To change it: /engine claude",
    "Engine is already direct.",
    "Engine is claude from the next turn on.",
    "Current engine: claude. To change it: /engine direct",
  ];
  expect(stdout.split("\n").filter((line) => /^(?:Engine is|Current engine)/.test(line))).toEqual(
    said.map((line) => expect.stringContaining(line)),
  );
  expect((await cli.run(["sessions", "list"])).stdout).not.toContain("ENGINE");
  expect((await cli.run(["run", "--rehearsal", "--engine", "direct", "hello"])).code).toBe(0);
  expect((await cli.run(["sessions", "list"])).stdout).toMatch(
    /^SESSION .* AGENT +ENGINE +ABOUT\n.* assistant +direct +hello\n.* assistant +claude +hi$/m,
  );
});
