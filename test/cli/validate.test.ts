import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeEach, expect, test } from "vitest";
import { type CliResult, testCli } from "../support/cli.ts";
import { recordTrust } from "../support/trust.ts";

const cli = testCli();
const home = { CAPSTAN_HOME: join(cli.home, ".capstan") };
afterAll(() => cli[Symbol.dispose]());
beforeEach(() => {
  rmSync(cli.cwd, { recursive: true });
  mkdirSync(cli.cwd);
});

function files(content: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(content)) {
    mkdirSync(dirname(join(cli.cwd, name)), { recursive: true });
    writeFileSync(join(cli.cwd, name), text);
  }
}

function validate(args: readonly string[] = [], environment: Record<string, string> = {}): Promise<CliResult> {
  return cli.run(["validate", ...args], { environment: { ...home, ...environment } });
}

const FULL = `extends: base.yaml
name: clerk
description: Keeps papers.
instructions: { file: clerk.md, mode: append }
inputs: { city: { type: string }, count: { type: integer, default: 1200 } }
model: claude-opus-4-8
fallback_model: claude-sonnet-5
effort: high
thinking: adaptive
tools: [Read]
functions: [tools.mjs]
mcp_servers:
  near: { command: none-such, env: { TOKEN: "\${TOKEN}" } }
  far: { type: http, url: "https://far.example/mcp?key=secret" }
permissions: { mode: plan, allow: [Read], ask: [{ rule: Bash, remember: false }], deny: [add] }
budget: { usd: 0.5, tool_calls: 2000, deadline_ms: 90000 }
subagents: { reviewer: { description: Reviews., instructions: Review. } }
skills: [pdf]
commands: { tidy: { prompt: Tidy up. } }
hooks: { on_turn_end: [{ command: "true" }] }
output_schema: { type: object }
environment: { workspace: { kind: worktree }, sandbox: { mode: preferred } }
`;

const BESIDE = {
  "base.yaml": "permissions: { deny: [WebFetch] }\n",
  "clerk.md": "In {{city}}, {{count}} times.",
  "tools.mjs": `import { writeFileSync } from "node:fs";
writeFileSync("loaded", "");
export const add = { description: "Adds.", input: { type: "object" }, handler: () => "3" };
`,
  "pdf/SKILL.md": "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
  "CLAUDE.md": "Be kind.",
};

test("what an agent file makes is told, and nothing of it is run", async () => {
  files({ "agent.yaml": FULL, ...BESIDE });
  await recordTrust(cli, "agent.yaml");
  const { stdout, stderr, code } = await validate();
  expect(stderr).toBe("");
  expect(stdout).toBe(`✓ agent.yaml is valid: clerk, Keeps papers.

  model         claude-opus-4-8, fallback claude-sonnet-5, effort high, thinking adaptive
  instructions  29 characters (${join(cli.cwd, "clerk.md")}), appended to Claude Code's prompt of 3,200 characters
  inputs        city (string, required), count (integer, default 1200)
  tools         Read
  functions     ${join(cli.cwd, "tools.mjs")}
  servers       near (none-such), far (http far.example)
  permissions   plan; allow Read; ask Bash; deny WebFetch, add
  budget        $0.50, 2,000 tool calls, 1 min 30 s per turn
  subagents     reviewer
  skills        pdf (1 file, 48 B)
  commands      /tidy
  hooks         on_turn_end (1)
  output        matches a JSON Schema
  workspace     worktree, sandbox preferred
  extends       ${join(cli.cwd, "base.yaml")}

! No model credential found: run capstan auth login, or set ANTHROPIC_API_KEY. --rehearsal needs none
! mcp_servers.near.env.TOKEN needs the variable TOKEN, which is not set; set it in the shell or in the project's .env before you start a session
! mcp_servers.near.command: none-such was not found in PATH (${process.env["PATH"]}). Install it, or use its full path
! The agent does not read CLAUDE.md. To use it: setting_sources: [project]
! Its functions were not loaded, because that runs their code, so Capstan cannot check that they provide add (permissions.deny.0). To check them too: capstan validate --import

Chat with it: capstan chat agent.yaml --rehearsal --input city=…
`);
  expect(code).toBe(0);
  expect(existsSync(join(cli.cwd, "loaded"))).toBe(false);
});

test("programs get the same as JSON, with the tools of functions when those may run", async () => {
  files({ "agent.yaml": FULL, ...BESIDE });
  await recordTrust(cli, "agent.yaml");
  const { stdout } = await validate(["--json", "--import"], { TOKEN: "t", ANTHROPIC_API_KEY: "sk-ant-test" });
  expect(JSON.parse(stdout)).toMatchObject({
    valid: true,
    file: join(cli.cwd, "agent.yaml"),
    files: [join(cli.cwd, "agent.yaml"), join(cli.cwd, "base.yaml")],
    agent: { name: "clerk", mcp_servers: ["near", "far"], skills: ["pdf"], function_tools: ["add"] },
    instructions: { file: join(cli.cwd, "clerk.md"), characters: 29, characters_before: 3200 },
    environment: { workspace: { kind: "worktree" }, sandbox: "preferred" },
    notes: [expect.stringContaining("none-such was not found"), expect.stringContaining("does not read CLAUDE.md")],
  });
  expect(existsSync(join(cli.cwd, "loaded"))).toBe(true);
});

test("a file that nobody has trusted is checked whole, with a note; its code is not run", async () => {
  files({ "agent.yaml": `${FULL}# changed\n`, ...BESIDE });
  const { stdout, code } = await validate();
  expect(stdout).toMatch(/! \S+agent\.yaml is not trusted yet, so these settings would have no effect: .*functions/);
  expect(code).toBe(0);
  expect(await validate(["--import"])).toMatchObject({ code: 2, stderr: expect.stringContaining("capstan trust") });
  expect(existsSync(join(cli.cwd, "loaded"))).toBe(false);
});

test("mistakes end it with 2, each with its place", async () => {
  files({
    "clerk.yaml":
      "name: clerk\nbudjet: {}\ntools: [Bsh]\nmodel: claude-haiku-4-5\neffort: high\noutput_schema: { type: objekt }\n",
  });
  const path = join(cli.cwd, "clerk.yaml");
  const problems = [
    `${path}:2:1 budjet: unknown key; did you mean "budget"?`,
    `${path}:3:9 tools.0: unknown tool "Bsh". Did you mean Bash?`,
    `${path}:5:9 effort: claude-haiku-4-5 does not support high. It has no effort levels; remove this setting.`,
    expect.stringContaining(`${path}:6:16 output_schema: The JSON Schema is not valid as draft 2020-12. /type: `),
  ];
  const told = await validate(["clerk.yaml"]);
  expect(told).toMatchObject({ code: 2, stdout: "" });
  expect(
    told.stderr
      .replace(/^capstan: /, "")
      .trimEnd()
      .split("\n"),
  ).toEqual(problems);
  const { code, stdout } = await validate(["clerk.yaml", "--json"]);
  expect(code).toBe(2);
  expect(JSON.parse(stdout)).toEqual({ valid: false, file: path, code: "invalid_agent", problems });
});

test("what the engine cannot honour is told at its place, by validate and by run", async () => {
  files({ "agent.yaml": "name: clerk\nmodel: claude-haiku-4-5\neffort: high\n" });
  const told = `capstan: ${join(cli.cwd, "agent.yaml")}:3:9 effort: claude-haiku-4-5 does not support high. It has no effort levels; remove this setting.\n`;
  expect(await validate()).toEqual({ code: 2, stdout: "", stderr: told });
  const args = ["run", "--rehearsal", "--agent", "agent.yaml", "list the files"];
  expect(await cli.run(args, { environment: home })).toEqual({ code: 2, stdout: "", stderr: told });
  files({ "agent.yaml": "name: clerk\nenvironment: { variables: { ANTHROPIC_BASE_URL: 'http://x.example' } }\n" });
  const past = `capstan: ${join(cli.cwd, "agent.yaml")}:2:49 environment.variables.ANTHROPIC_BASE_URL: would bypass the gateway; only the host sets credentials and addresses, so remove it\n`;
  expect(await validate()).toEqual({ code: 2, stdout: "", stderr: past });
  expect(await cli.run(args, { environment: home })).toEqual({ code: 2, stdout: "", stderr: past });
});

test("a directory stands for the agent.yaml in it, and a .env there that is not read is told", async () => {
  files({ "helper/agent.yaml": "name: clerk\ntools: [Read]\n", "helper/.env": "ANTHROPIC_API_KEY=sk-ant-test\n" });
  const directory = join(cli.cwd, "helper");
  const { stdout } = await validate(["helper"]);
  expect(stdout).toContain("✓ helper/agent.yaml is valid: clerk\n");
  expect(stdout).toContain(
    `! ${directory}/.env is not read: there is no project here. To use it: mkdir ${directory}/.capstan && cd ${directory}\n`,
  );
  expect(stdout).toContain("Chat with it: capstan chat helper/agent.yaml --rehearsal\n");
  const environment = home;
  const ran = await cli.run(["run", "--rehearsal", "--agent", "helper", "--json", "say hello"], { environment });
  expect(ran).toMatchObject({ code: 0, stderr: "" });
  expect((await cli.run(["chat", "helper", "--rehearsal"], { environment, input: "say hello\n" })).code).toBe(0);
});

test.each([
  [
    "a schema that is none",
    "output_schema: { type: objekt }",
    /agent\.yaml:2:16 output_schema: The JSON Schema is not valid as draft 2020-12\. \/type: /,
  ],
  [
    "a function module that throws",
    "functions: [throws.mjs]",
    /agent\.yaml:2:12 functions: \S+throws\.mjs cannot be loaded: no luck\. Run it with node to see more\.\n$/,
  ],
  [
    "a rule for a tool that no function brings",
    "functions: [tools.mjs]\npermissions: { deny: [subtract] }",
    /agent\.yaml:3:22 permissions\.deny: unknown tool "subtract"/,
  ],
])("%s is told at its place", async (_what, text, problem) => {
  files({ "agent.yaml": `name: clerk\n${text}\n`, "throws.mjs": 'throw new Error("no luck");', ...BESIDE });
  await recordTrust(cli, "agent.yaml");
  const { code, stderr } = await validate(["--import"]);
  expect(stderr).toMatch(problem);
  expect(code).toBe(2);
});

test("what the chosen provider lacks is told with how to get it", async () => {
  files({ "agent.yaml": "name: clerk\nauth: vertex\n" });
  const { code, stdout } = await validate([], { ANTHROPIC_API_KEY: "sk-ant-test" });
  expect(stdout).toContain("! vertex: missing ANTHROPIC_VERTEX_PROJECT_ID: set it to the id of");
  expect(code).toBe(0);
  files({ "agent.yaml": "name: clerk\nengine: claude\ntools: [WebSearch]\n" });
  expect((await validate([], { CLAUDE_CODE_USE_BEDROCK: "1" })).stdout).toContain(
    "! tools: WebSearch is not available with bedrock: Amazon Bedrock does not support it.",
  );
});

test("a server whose program is not there is told by run, too", async () => {
  files({ "agent.yaml": "name: clerk\nmcp_servers: { near: { command: none-such } }\n" });
  await recordTrust(cli, "agent.yaml");
  const args = ["run", "--rehearsal", "--agent", "agent.yaml", "say hello"];
  const { code, stderr } = await cli.run(args, { environment: home });
  expect(stderr).toContain("The MCP server near (none-such was not found in PATH (/");
  expect(code).toBe(3);
});

test("without a file it says how to get one", async () => {
  expect(await validate()).toEqual({
    code: 2,
    stdout: "",
    stderr:
      "capstan: No agent.yaml in this directory. Name a file (capstan validate FILE), or create one (capstan init).\n",
  });
  expect((await validate(["other.yaml"])).stderr).toBe(
    `capstan: Cannot read the agent file ${join(cli.cwd, "other.yaml")}: no such file or directory.\n`,
  );
});

test("files that cannot be read are told at the places that name them, together with what else is wrong", async () => {
  files({
    "agent.yaml":
      "name: clerk\nmodel: claude-haiku-4-5\neffort: low\nsubagents: { w: none.yaml }\ncommands: { go: { file: none.md } }\nskills: [none]\n",
  });
  const { code, stderr } = await validate();
  expect(code).toBe(2);
  const places = stderr.trim().split("\n");
  expect(places.map((line) => /agent\.yaml:(\d+:\d+ [\w.]+): /.exec(line)?.[1])).toEqual([
    "3:9 effort",
    "4:17 subagents.w",
    "5:25 commands.go.file",
    "6:10 skills.0",
  ]);
});
