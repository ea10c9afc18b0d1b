import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { findContainment } from "../../src/process/containment.ts";
import { agent, eventsOf, ofType, temporaryDirectory, testHost } from "../support/host.ts";
import { call, say } from "../support/scripted-model.ts";

const SECRETS = { MY_SECRET: "host-secret-1", AWS_SECRET_ACCESS_KEY: "host-secret-2", GITHUB_TOKEN: "host-secret-3" };
/** What an agent's command may find set: what we name, what the CLI adds for its own children, and what a shell makes. */
const NAMED =
  /^(PATH|LANG|HOME|TMPDIR|PROJECT|CAPSTAN_SESSION|_?CLAUDE\w*|DISABLE_AUTOUPDATER|ENABLE_TOOL_SEARCH|AI_AGENT|CLAUDECODE|COREPACK_ENABLE_AUTO_PIN|GIT_EDITOR|MCP_\w+|NoDefaultCurrentDirectoryInExePath|OTEL_\w+|SHELL|SHLVL|TMPPREFIX|PWD|OLDPWD|_)$/;

const LOOK = "env; cat /proc/self/environ /proc/$PPID/environ 2>/dev/null | tr '\\0' '\\n'";

const pathWithout = (directory: string, missing: string): string => {
  const found = (process.env["PATH"] ?? "").split(":").filter((entry) => entry !== "");
  const bin = join(directory, "bin");
  mkdirSync(bin);
  // Every program of the machine but one, so that the CLI cannot find it.
  for (const entry of found)
    for (const name of list(entry)) if (name !== missing) linkOnce(join(entry, name), join(bin, name));
  return bin;
};

function list(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function linkOnce(target: string, path: string): void {
  try {
    symlinkSync(target, path);
  } catch {
    // An earlier directory of the search path already has it.
  }
}

afterEach(() => vi.unstubAllEnvs());

const hasBubblewrap = spawnSync("bwrap", ["--version"]).status === 0;

// The CLI behaves differently where it finds bubblewrap. `npm test` installs it, or says that this was not tested.
for (const bubblewrap of hasBubblewrap ? [true, false] : [false])
  test(`a command sees no variable and no key of the host, ${bubblewrap ? "with" : "without"} bubblewrap`, async () => {
    using directory = temporaryDirectory();
    const path = bubblewrap ? (process.env["PATH"] ?? "") : pathWithout(directory.path, "bwrap");
    for (const [name, value] of Object.entries(SECRETS)) vi.stubEnv(name, value);
    await using t = await testHost((request) =>
      request.toolResults.length > 0 ? say("seen") : call("Bash", { command: LOOK }),
    );
    await using host = await t.another({ environment: { ...t.environment, ...SECRETS, PATH: path } });
    const session = await host.startSession({
      agent: agent({ tools: ["Bash"], permissions: { allow: ["Bash"] } }),
      cwd: t.cwd,
      variables: { PROJECT: "named" },
    });
    await session.send("Look around.").result();
    const [result] = ofType(await eventsOf(host, session.id), "agent.tool_result");
    const seen = JSON.stringify(result?.content);
    expect(result?.outcome).toBe("completed");
    expect(seen).toContain("PROJECT=named");
    for (const secret of [...Object.values(SECRETS), t.environment["ANTHROPIC_API_KEY"] ?? "?"])
      expect(seen).not.toContain(secret);
    const text = (result?.content ?? []).map((block) => (block.type === "text" ? block.text : "")).join("\n");
    const names = [...text.matchAll(/^(\w+)=/gm)].map((match) => match[1] ?? "");
    expect(names.length).toBeGreaterThan(5);
    expect([...new Set(names)].filter((name) => !NAMED.test(name))).toEqual([]);
  });

/** Ways to what is below the `/proc` of a namespace, and beside it, for who is root there. */
const UNCOVER = `umount /proc; umount -l /proc; mount --move /proc /mnt; mount -t proc proc /proc
ls /proc | grep -x ${process.pid} && echo host-seen
unshare --user --map-root-user --mount sh -c 'umount -l /proc; ls /proc | grep -x ${process.pid} && echo host-seen'
nsenter -t 1 -m true && echo entered
kill -0 ${process.pid} && echo host-reached
env; echo looked`;

test("a command cannot unmount the /proc of its namespace and see the host, root or not", async () => {
  expect(await findContainment()).toBeDefined();
  await using t = await testHost((request) =>
    request.toolResults.length > 0 ? say("seen") : call("Bash", { command: UNCOVER }),
  );
  const session = await t.host.startSession({
    agent: agent({ tools: ["Bash"], permissions: { mode: "yolo" } }),
    cwd: t.cwd,
  });
  await session.send("Look below.").result();
  const events = await eventsOf(t.host, session.id);
  expect(ofType(events, "capstan.process_started")[0]?.contained).toBe(true);
  const [result] = ofType(events, "agent.tool_result");
  const text = (result?.content ?? []).map((block) => (block.type === "text" ? block.text : "")).join("\n");
  expect(text).toContain("looked");
  expect(text).toContain(`CAPSTAN_SESSION=${session.id}`);
  expect(["host-seen", "entered", "host-reached"].filter((found) => text.split("\n").includes(found))).toEqual([]);
});

test("settings, hooks, servers and instructions of the person are not loaded, nor a project's", async () => {
  using person = temporaryDirectory();
  await using t = await testHost((request) =>
    request.toolResults.length > 0 ? say("ok") : call("Bash", { command: "echo ran" }),
  );
  const mark = join(person.path, "mark");
  const command = `touch ${mark}`;
  const hooks = Object.fromEntries(
    ["SessionStart", "UserPromptSubmit", "PreToolUse", "Stop"].map((name) => [
      name,
      [{ hooks: [{ type: "command", command }] }],
    ]),
  );
  const servers = { mcpServers: { theirs: { command: "touch", args: [mark] } } };
  for (const home of [person.path, t.cwd]) {
    mkdirSync(join(home, ".claude", "skills", "theirs"), { recursive: true });
    const settings = { hooks, env: { THEIRS: "set" }, enableAllProjectMcpServers: true };
    writeFileSync(join(home, ".claude", "settings.json"), JSON.stringify(settings));
    writeFileSync(join(home, ".claude", "CLAUDE.md"), "Say theirs.\n");
    const skill = "---\nname: theirs\ndescription: Theirs alone.\n---\n";
    writeFileSync(join(home, ".claude", "skills", "theirs", "SKILL.md"), skill);
    for (const name of [".claude.json", ".mcp.json"]) writeFileSync(join(home, name), JSON.stringify(servers));
  }
  vi.stubEnv("HOME", person.path);
  await using host = await t.another({ environment: { ...t.environment, HOME: person.path } });
  const session = await host.startSession({
    agent: agent({ tools: ["Bash"], permissions: { allow: ["Bash"] } }),
    cwd: t.cwd,
  });
  expect((await session.send("Run it.").result()).text).toBe("ok");
  await session.close();
  expect(existsSync(mark)).toBe(false);
  expect(JSON.stringify(t.model.requests.map(({ body }) => body))).not.toMatch(/theirs/i);
});

test("the agent's home, configuration and temporary files are the session's own", async () => {
  await using t = await testHost((request) =>
    request.toolResults.length > 0
      ? say("ok")
      : call("Bash", { command: "echo $HOME $TMPDIR; echo x > ~/left-behind" }),
  );
  const session = await t.host.startSession({
    agent: agent({ tools: ["Bash"], permissions: { allow: ["Bash"] } }),
    cwd: t.cwd,
  });
  await session.send("Where are you?").result();
  expect(readFileSync(join(t.home, "sessions", session.id, "home", "left-behind"), "utf8")).toBe("x\n");
});
