import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { clock, ids } from "../../src/app/clock.ts";
import { hasSandbox } from "../../src/app/check/has-sandbox.ts";
import { openStore } from "../../src/app/open-store.ts";
import { parseAgent } from "../../src/core/agent/agent-definition.ts";
import { parseEnvironment } from "../../src/core/environment/environment.ts";
import type { SessionEvent } from "../../src/core/events/events.ts";
import { PLAIN_SESSION } from "../../src/core/ports/store.ts";
import { subjectOf } from "../../src/runtime/subject/call-subject.ts";
import { type Cli, testCli } from "../support/cli.ts";
import { agent } from "../support/host.ts";

function write(cli: Cli, name: string, text: string): void {
  mkdirSync(join(cli.cwd, name, ".."), { recursive: true });
  writeFileSync(join(cli.cwd, name), text);
}

test("policy check explains a decision, with the rule that made it and where it stands", async () => {
  using cli = testCli();
  write(cli, ".capstan/config.yaml", "permissions:\n  deny: [Bash(rm *)]\n");
  const { code, stdout } = await cli.run(["policy", "check", "Bash(sudo rm -rf build)"]);
  expect(code).toBe(0);
  expect(stdout).toContain("would be denied");
  expect(stdout).toMatch(/by +rule:deny Bash\(rm \*\), from project \(.*config\.yaml\)/);
  expect(stdout).toContain("rm -rf build (by sudo)");
  expect(stdout).toMatch(/2\. deny rules: decided/);
});

test("policy check tells what would be remembered, as JSON too", async () => {
  using cli = testCli();
  const { stdout } = await cli.run(["policy", "check", "Bash(npm test > log.txt)"]);
  expect(stdout).toMatch(/remember +Bash\(npm test\)\n +Edit\(\.\/log\.txt\)/);
  const json = await cli.run(["policy", "check", "Bash(npm test > log.txt)", "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject({
    behavior: "ask",
    decidedBy: "default:ask",
    mode: "normal",
    remembers: ["Bash(npm test)", "Edit(./log.txt)"],
    subject: { tool: "Bash", shell: { writes: [{ text: "log.txt" }] } },
  });
});

test("policy check takes an agent, a mode and a directory", async () => {
  using cli = testCli();
  write(
    cli,
    "agent.yaml",
    "name: reader\ntools: [Read]\npermissions:\n  ask: [{ rule: Read(.env), remember: false }]\n",
  );
  mkdirSync(join(cli.cwd, "below"));
  const check = async (...args: string[]): Promise<unknown> =>
    JSON.parse((await cli.run(["policy", "check", ...args, "--json"])).stdout);
  expect(await check("bash(ls)", "-a", "agent.yaml")).toMatchObject({ behavior: "deny", decidedBy: "agent:tools" });
  expect(await check("Read(.env)", "-a", "agent.yaml")).toMatchObject({
    decidedBy: "rule:ask Read(.env)",
    source: expect.stringMatching(/^agent/),
    rememberable: false,
  });
  expect(await check("Bash(ls)", "--mode", "yolo")).toMatchObject({ decidedBy: "mode:yolo", source: "flag --mode" });
  expect(await check("Read(../x)", "-C", "below")).toMatchObject({ behavior: "ask", subject: { inside: false } });
  expect(await check("Read(x)", "-C", "below")).toMatchObject({ decidedBy: "tool:read-only" });
  expect(await check("mcp__files__list")).toMatchObject({ behavior: "ask", remembers: ["mcp__files__list"] });
});

test("policy check says what the runtime would: without a sandbox nothing is allowed by it, and the host's secrets are hidden", async () => {
  using cli = testCli();
  mkdirSync(join(cli.home, ".capstan"));
  writeFileSync(
    join(cli.home, ".capstan", "config.yaml"),
    "environment: { sandbox: { mode: preferred, auto_allow_sandboxed: true } }\n",
  );
  // A machine of which nothing can be found but the shell.
  mkdirSync(join(cli.cwd, "bin"));
  const PATH = join(cli.cwd, "bin");
  const check = async (call: string, environment: Record<string, string>): Promise<unknown> =>
    JSON.parse((await cli.run(["policy", "check", call, "--json"], { environment })).stdout);
  const decidedBy = hasSandbox(process.env) ? "sandbox:auto-allow" : "default:ask";
  expect(await check("Bash(npm test)", {})).toMatchObject({ decidedBy });
  expect(await check("Bash(npm test)", { PATH })).toMatchObject({ behavior: "ask", decidedBy: "default:ask" });
  write(cli, "key.txt", "sk-ant-0");
  const ANTHROPIC_API_KEY_FILE = join(cli.cwd, "key.txt");
  expect(await check("Read(key.txt)", {})).toMatchObject({ behavior: "allow" });
  expect(await check("Read(key.txt)", { ANTHROPIC_API_KEY_FILE })).toMatchObject({ decidedBy: "sandbox:read" });
});

test.each([
  [["policy", "check", "rm -rf build"], /"rm -rf build" is not a tool call/],
  [["policy", "check", "WebSearch(x)"], /Write only WebSearch/],
  [["policy", "check", "Bash(ls)", "--mode", "careful"], /Allowed choices are normal/],
  [["policy", "replay"], /--rules/],
  [["policy", "replay", "--rules", "none.yaml"], /Cannot read the rules none\.yaml/],
  [["policy", "replay", "--rules", "bad.yaml"], /bad\.yaml:2:10 permissions\.deny\.0: expected a closing parenthesis/],
  [["policy", "replay", "--rules", "good.yaml", "--since", "soon"], /"soon" is not a duration/],
])("%j is wrong use", async (args, message) => {
  using cli = testCli();
  write(cli, "bad.yaml", "permissions:\n  deny: ['Bash(rm']\n");
  write(cli, "good.yaml", "permissions:\n  deny: [Bash(rm *)]\n");
  const { code, stderr } = await cli.run(args);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
});

const DAY_MS = 86_400_000;

/** A session in which these commands were decided, each so many days ago. */
async function recordSession(
  cli: Cli,
  decisions: readonly (readonly [command: string, decidedBy: string, daysAgo: number])[],
) {
  await using store = await openStore(join(cli.home, ".capstan"), {});
  const id = ids.next("sesn");
  const record = {
    id,
    createdAt: clock.now(),
    project: "default",
    agent: parseAgent(agent()),
    environment: parseEnvironment({}),
    cwd: cli.cwd,
    source: cli.cwd,
    title: null,
    ...PLAIN_SESSION,
    forkedFrom: null,
  };
  await store.createSession(record);
  const lease = await store.leases.acquire(id, { hostId: "host_1", pid: process.pid, hostname: "here" }, 60_000);
  const events = decisions.map(([command, decided_by, daysAgo], index): SessionEvent => ({
    type: "capstan.permission_decided",
    id: ids.next("sevt"),
    processed_at: new Date(clock.now() - daysAgo * DAY_MS).toISOString(),
    call_id: `call_${index}`,
    tool_use_id: `sevt_${index}`,
    tool: "Bash",
    decision: "allow",
    decided_by,
    reason: "",
    subject: subjectOf({ tool: "Bash", input: { command } }, { cwd: cli.cwd, home: cli.home }),
    mode: "normal",
    traits: { readOnly: false, edit: false, safeInternal: false },
  }));
  await store.append(id, { after: 0, fence: lease.fence, events });
  await store.leases.release(lease);
  return id;
}

test("policy replay lists what changed rules would decide otherwise", async () => {
  using cli = testCli();
  const id = await recordSession(cli, [
    ["npm test", "person:me", 0],
    ["rm -rf build", "rule:allow Bash", 1],
    ["git push", "rule:allow Bash", 1],
    ["rm old", "rule:allow Bash", 30],
    ["ls", "limit:usd", 0],
  ]);
  await recordSession(cli, [["rm other", "rule:allow Bash", 0]]);
  write(cli, "new.yaml", "permissions:\n  allow: [Bash(npm test)]\n  ask: [Bash(git push *)]\n  deny: [Bash(rm *)]\n");
  const args = ["policy", "replay", "--rules", "new.yaml", "--since", "7d", "--session", id];
  const { code, stdout, stderr } = await cli.run(args);
  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(/1 call would now be allowed:\n[\s\S]*needs approval .*npm test/);
  expect(stdout).toMatch(/1 call would now need approval:\n[\s\S]*git push/);
  expect(stdout).toMatch(/1 call would now be denied:\n[\s\S]*rm -rf build/);
  expect(stdout).toContain("1 call cannot be replayed");
  expect(stdout).not.toContain("rm old");
  expect(stdout).not.toContain("rm other");
  const lines = (await cli.run([...args, "--json"])).stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as object);
  expect(lines).toHaveLength(3);
  expect(lines[1]).toMatchObject({
    session_id: id,
    about: "rm -rf build",
    before: "allow",
    now: "deny",
    changed: true,
  });
  const all = (await cli.run(["policy", "replay", "--rules", "new.yaml"])).stdout;
  expect(all).toMatch(/3 calls would now be denied/);
});

test("policy replay of nothing says so", async () => {
  using cli = testCli();
  write(cli, "new.yaml", "permissions: {}\n");
  expect(await cli.run(["policy", "replay", "--rules", "new.yaml"])).toMatchObject({
    code: 0,
    stdout: "0 calls would be decided as before.\n",
  });
});

test("a rule for a tool that does not exist is refused, as a session would refuse it", async () => {
  using cli = testCli();
  write(cli, "new.yaml", "permissions:\n  deny: [Raed]\n");
  write(cli, ".capstan/config.yaml", "permissions:\n  deny: [Raed]\n");
  for (const args of [
    ["check", "Read(x)"],
    ["replay", "--rules", "new.yaml"],
  ])
    expect(await cli.run(["policy", ...args])).toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringContaining("Did you mean Read?"),
    });
});

test("a call of a tool that does not exist names the nearest one", async () => {
  using cli = testCli();
  expect(await cli.run(["policy", "check", "Bsh(ls)"])).toMatchObject({
    code: 2,
    stderr: "capstan: Unknown built-in tool Bsh. Did you mean Bash?\n",
  });
});
