import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { clock } from "../../src/app/clock.ts";
import { parseAgent } from "../../src/core/agent/agent-definition.ts";
import { parseEnvironment } from "../../src/core/environment/environment.ts";
import { PLAIN_SESSION } from "../../src/core/ports/store.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { testCli } from "../support/cli.ts";
import { COPY, sessionOf } from "./workspaces-sessions.ts";

test("backup overwrites nothing, and restore takes no directory: wrong use, said in a sentence", async () => {
  using cli = testCli();
  writeFileSync(join(cli.cwd, "mine.txt"), "mine");
  expect(await cli.run(["backup", "mine.txt"])).toEqual({
    code: 2,
    stdout: "",
    stderr: "capstan: mine.txt already exists. Choose another name, or remove it.\n",
  });
  expect(readFileSync(join(cli.cwd, "mine.txt"), "utf8")).toBe("mine");
  expect(await cli.run(["restore", "."])).toEqual({
    code: 2,
    stdout: "",
    stderr: `capstan: ${cli.cwd} cannot be restored: it is a directory. Nothing was changed. Choose another backup.\n`,
  });
});

test("prune --json prints JSON and nothing else on standard output", async () => {
  using cli = testCli();
  expect(await cli.run(["prune", "--older-than", "1ms", "--json"])).toEqual({ code: 0, stdout: "", stderr: "" });
  await sessionOf(cli, ["hello"]);
  const dry = await cli.run(["prune", "--older-than", "1ms", "--json"]);
  expect(dry.stderr).toContain("Nothing was erased. To erase it, add --yes.");
  const { stdout, stderr } = await cli.run(["prune", "--older-than", "1ms", "--json", "--yes"]);
  expect(JSON.parse(stdout)).toMatchObject({ firstMessage: "hello" });
  expect(stdout).toBe(dry.stdout);
  expect(stderr).toBe("");
  expect((await cli.run(["sessions", "list", "--json"])).stdout).toBe("");
});

test("prune keeps a session whose changes were not exported, and erases the others", async () => {
  using cli = testCli();
  const untaken = await sessionOf(cli, ["write a.txt with hi"], COPY);
  const other = await sessionOf(cli, ["hello"]);
  const { code, stdout, stderr } = await cli.run(["prune", "--older-than", "1ms", "--yes"]);
  expect(code).toBe(1);
  expect(stdout).toContain(`Session ${other} erased.`);
  expect(stderr).toContain(`Session ${untaken} was not deleted: it has unexported changes.`);
  expect((await cli.run(["sessions", "list"])).stdout).toContain(untaken);
});

test("config show and projects cut nothing, however long", async () => {
  using cli = testCli();
  const root = join(cli.cwd, "a-long-name-".repeat(15));
  mkdirSync(join(root, ".capstan"), { recursive: true });
  const tool = "mcp__server__".concat("tool_".repeat(30));
  writeFileSync(join(root, ".capstan", "config.yaml"), `permissions:\n  deny: [${tool}]\n`);
  const shown = (await cli.run(["config", "show"], { cwd: root })).stdout;
  expect(shown).toContain(`  ${tool}\n`);
  expect(shown).toContain(root);
  expect(shown).not.toContain("…");
  await cli.run(["run", "--rehearsal", "hello"], { cwd: root });
  expect((await cli.run(["projects"])).stdout).toContain(`  ${root}\n`);
});

test("models without a credential names the variables, and no option that it does not have", async () => {
  using cli = testCli();
  const { code, stderr } = await cli.run(["models"]);
  expect(stderr).toMatch(/^capstan: .*Set ANTHROPIC_API_KEY, .*ANTHROPIC_AUTH_TOKEN.*CLAUDE_CODE_OAUTH_TOKEN/);
  expect(stderr).not.toContain("--rehearsal");
  expect(code).toBe(2);
});

/** Tells on standard error the most that ever waited in the CLI for the reader of its output. */
const OBSERVER = `let most = 0;
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (...given) => {
    const more = write(...given);
    most = Math.max(most, process.stdout.writableLength);
    return more;
  };
  process.on("exit", () => process.stderr.write(String(most)));`;

test("export to standard output waits for its reader instead of filling the memory", async () => {
  using cli = testCli();
  const text = "x".repeat(10_000);
  const events = 1_200;
  {
    await using store = await openSqliteStore({ path: join(cli.home, ".capstan", "capstan.db"), clock });
    const agent = parseAgent({ name: "writer", model: "claude-opus-4-8" });
    const place = { environment: parseEnvironment({}), cwd: cli.cwd, source: cli.cwd };
    const record = { agent, ...place, project: "default", title: null, ...PLAIN_SESSION, forkedFrom: null };
    await store.createSession({ id: "sesn_large", createdAt: 0, ...record });
    const owner = { hostId: "host_test", pid: process.pid, hostname: "test" };
    const lease = await store.leases.acquire("sesn_large", owner, 60_000);
    const messages = Array.from({ length: events }, (_, index) => ({
      id: `sevt_${index}`,
      type: "user.message" as const,
      processed_at: null,
      content: [{ type: "text" as const, text }],
    }));
    await store.append("sesn_large", { after: 0, events: messages, fence: lease.fence });
    await store.leases.release(lease);
  }
  const { code, stdout, stderr } = await cli.run(["sessions", "export", "sesn_large"], {
    environment: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(OBSERVER)}` },
  });
  expect(code).toBe(0);
  expect(stdout.trimEnd().split("\n").length).toBe(1 + events);
  expect(Number(stderr)).toBeGreaterThan(0);
  expect(Number(stderr)).toBeLessThan(20 * text.length);

  const leaving = ["sh", "-c", '{ "$@"; echo $? > code.txt; } | head -c 10', "sh"];
  const cut = await cli.run(["sessions", "export", "sesn_large"], { within: leaving });
  expect(cut).toMatchObject({ stdout: '{"capstan"', stderr: "" });
  expect(readFileSync(join(cli.cwd, "code.txt"), "utf8")).toBe("0\n");
});
