import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { execFileSync } from "node:child_process";
import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import type { EnvironmentInput } from "../../src/core/environment/environment.ts";
import { agent, eventsOf, ofType, temporaryDirectory, type TestHost, testHost } from "../support/host.ts";
import { describeSandbox } from "../support/hostile-world.ts";
import { type Block, type Reply, say, type Script, toolUse } from "../support/scripted-model.ts";
import { TEST_ENGINE } from "../support/test-engine.ts";
import { until } from "../support/until.ts";

const SANDBOX: EnvironmentInput = {
  // The programs of the tests are in the repository, which may itself lie where the sandbox hides everything.
  sandbox: { mode: "required", auto_allow_sandboxed: true, allow_read: [resolve(".")] },
};
const SERVER = fileURLToPath(new URL("../support/hostile-server.ts", import.meta.url));

/** The agent makes these calls one after another; what it was told of each is kept. */
function calls(steps: readonly Block[]): { readonly script: Script; readonly told: string[] } {
  const told: string[] = [];
  const script: Script = (request): Reply => {
    told.push(...request.toolResults.map(({ text }) => text));
    const step = steps[told.length];
    return step === undefined ? say("done") : { blocks: [step] };
  };
  return { script, told };
}

const bash = (command: string): Block => toolUse("Bash", { command });

async function startEvent(t: TestHost, sessionId: string) {
  return ofType(await eventsOf(t.host, sessionId), "capstan.process_started").at(-1);
}

test("a session that requires a sandbox is refused where there is none, before anything is stored", async () => {
  await using t = await testHost(() => say("never"));
  await using host = await t.another({ environment: { ...t.environment, PATH: "/nowhere" } });
  const start = host.startSession({ agent: agent(), cwd: t.cwd, environment: SANDBOX });
  await expect(start).rejects.toMatchObject({ code: "sandbox_missing", message: expect.stringContaining("apt-get") });
  expect(await host.sessions()).toEqual([]);
});

test("a session that prefers a sandbox runs without it where there is none, and the log says so", async () => {
  using directory = temporaryDirectory();
  // What the CLI needs, and no bubblewrap.
  for (const name of ["setpriv", "unshare", "sh", "bash", "env", "cat", "git"])
    symlinkSync(execFileSync("which", [name], { encoding: "utf8" }).trim(), join(directory.path, name));
  const { script, told } = calls([bash("echo hello")]);
  await using t = await testHost(script);
  await using host = await t.another({ environment: { ...t.environment, PATH: directory.path } });
  const environment: EnvironmentInput = { sandbox: { mode: "preferred", auto_allow_sandboxed: true } };
  const session = await host.startSession({
    agent: agent({ tools: ["Bash"] }),
    cwd: t.cwd,
    environment,
    askPermission: () => ({ behavior: "deny", by: "tester" }),
  });
  await session.send("Go.").result();
  expect(ofType(await eventsOf(host, session.id), "capstan.process_started")[0]).toMatchObject({
    sandbox: "unavailable",
    sandbox_missing: expect.stringMatching(/bubblewrap .*socat are not installed/),
  });
  // What would have been allowed inside is asked about outside.
  expect(told[0]).toContain("tester denied this call");
});

describeSandbox("in the sandbox", () => {
  test("a command in the sandbox needs nobody, one that is excluded does, and both are named", async () => {
    const { script } = calls([bash("echo in > inside.txt"), bash("tool-outside"), bash("true | tool-outside")]);
    await using t = await testHost(script);
    const asked: unknown[] = [];
    const session = await t.host.startSession({
      agent: agent({
        tools: ["Bash"],
        mcp_servers: {
          hostile: { command: process.execPath, args: [SERVER], outside_sandbox: true },
          quiet: { command: process.execPath, args: [SERVER] },
        },
      }),
      cwd: t.cwd,
      environment: { sandbox: { ...SANDBOX.sandbox, excluded_commands: ["tool-outside"] } },
      askPermission: ({ input }) => {
        asked.push(input["command"]);
        return { behavior: "deny", by: "tester" };
      },
    });
    expect((await session.send("Go.").result()).text).toBe("done");
    expect(asked).toEqual(["tool-outside", "true | tool-outside"]);
    expect(existsSync(join(t.cwd, "inside.txt"))).toBe(true);
    expect(await startEvent(t, session.id)).toMatchObject({
      sandbox: "on",
      outside: ["mcp__hostile", "Bash(tool-outside:*)"],
    });
  });

  test("a domain that is allowed can be reached by commands if the engine can tell domains apart, and no other", async () => {
    const server = createServer((request, response) => response.end(`you asked for ${request.url ?? ""}`));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const fetch = (host: string): Block =>
      bash(`curl -s -m 5 --noproxy '' -x "$HTTP_PROXY" http://${host}:${port}/${host}`);
    const { script, told } = calls([fetch("localhost"), fetch("127.0.0.1")]);
    await using t = await testHost(script);
    const session = await t.host.startSession({
      agent: agent({ tools: ["Bash"] }),
      cwd: t.cwd,
      environment: { sandbox: { ...SANDBOX.sandbox, network: { allow: ["localhost"] } } },
    });
    await session.send("Go.").result();
    server.close();
    // An engine that cannot look at which domains a command asks for gives it no network at all.
    if (TEST_ENGINE === "claude") expect(told[0]).toContain("you asked for /localhost");
    else expect(told[0]).not.toContain("you asked for");
    expect(told[1]).not.toContain("you asked for");
  });

  test("an agent can work: it commits, writes temporary files, and reads long output", async () => {
    const git = "git -c user.name=t -c user.email=t@example.com";
    let t: TestHost | undefined;
    const told: string[] = [];
    const readSaved = (): Block =>
      toolUse("Read", {
        file_path: /(?:saved to:|bytes are in) ([^\s\]]+)/.exec(told.at(-1) ?? "")?.[1] ?? "?",
        limit: 5,
      });
    const steps: (() => Block)[] = [
      () => bash("echo hi > a.txt && git add -A && " + git + " commit -qm first && git show --stat --format=%s HEAD"),
      () => bash('echo x > "$TMPDIR/x" && cat "$TMPDIR/x" && ls -d ~ && git status --short'),
      () => bash("seq 1 20000"),
      readSaved,
      () => toolUse("Grep", { pattern: "hidden-word", path: t?.cwd ?? "", output_mode: "content" }),
      () => bash("find . -name key -exec cat {} +; cat open.txt"),
    ];
    await using host = await testHost((request) => {
      told.push(...request.toolResults.map(({ text }) => text));
      const step = steps[told.length];
      return step === undefined ? say("done") : { blocks: [step()] };
    });
    t = host;
    execFileSync("git", ["init", "-q"], { cwd: t.cwd });
    mkdirSync(join(t.cwd, "private"));
    writeFileSync(join(t.cwd, "private", "key"), "hidden-word in private");
    writeFileSync(join(t.cwd, "open.txt"), "hidden-word in the open");
    const session = await t.host.startSession({
      agent: agent({ tools: ["Bash", "Read", "Grep"], permissions: { mode: "yolo" } }),
      cwd: t.cwd,
      environment: { sandbox: { ...SANDBOX.sandbox, deny_read: ["private"] } },
    });
    expect((await session.send("Work.").result()).text).toBe("done");
    const [commit, temporary, , output, search, commands] = told;
    // For the direct engine the repository is read-only.
    expect(commit).toContain(TEST_ENGINE === "claude" ? "2 files changed" : "Read-only file system");
    const uncommitted = TEST_ENGINE === "claude" ? "" : "\n?? a.txt\n?? open.txt";
    expect(temporary?.replace(/^x\n\S+\/home/, "in place")).toBe(`in place${uncommitted}`);
    expect(output).toContain("1\t1\n");
    expect(search).toContain("in the open");
    expect(search).not.toContain("in private");
    expect(commands).toContain("in the open");
    expect(commands).not.toContain("in private");
    await session.close();
    // The CLI keeps its files elsewhere when it goes on with a conversation.
    steps.push(() => bash("seq 1 20000"), readSaved);
    const resumed = await t.host.resumeSession(session.id);
    await resumed.send("Go on.").result();
    expect(told.at(-1)).toContain("1\t1\n");
    await resumed.close();
    expect(readdirSync(t.cwd).toSorted()).toEqual([".git", "a.txt", "open.txt", "private"]);
  });

  test("nothing of the sandbox is left behind by a process that was killed, or a turn that was cut short", async () => {
    const { script } = calls([bash("touch begun; setsid -f sleep 987650; sleep 987651"), bash("true")]);
    await using t = await testHost(script);
    const session = await t.host.startSession({
      agent: agent({ tools: ["Bash"] }),
      cwd: t.cwd,
      environment: SANDBOX,
    });
    const cut = session
      .send("Go.")
      .result()
      .catch(() => undefined);
    await until(
      () => existsSync(join(t.cwd, "begun")),
      (begun) => begun,
    );
    const { pid } = (await startEvent(t, session.id)) ?? {};
    if (pid === undefined) await session.interrupt();
    else process.kill(pid, "SIGKILL");
    await cut;
    await until(
      () => readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && commandLine(pid).includes("98765")),
      (left) => left.length === 0,
    );
    await session.close();
    expect(readdirSync(t.cwd)).toEqual(["begun"]);
  });

  test.each<[string, EnvironmentInput["limits"], string]>([
    [
      "memory_bytes",
      { memory_bytes: 800 * 1_048_576 },
      "node -e 'const b = Buffer.alloc(900 * 1048576, 1); setInterval(() => b, 1e6)'",
    ],
    ["processes", { processes: 60 }, "for i in $(seq 1 80); do sleep 1000 & done; wait"],
    ["cpu_seconds", { cpu_seconds: 4 }, "while :; do :; done"],
  ])("a session that passes its limit of %s is stopped", async (which, limits, command) => {
    const { script } = calls([bash(command)]);
    await using t = await testHost(script);
    const session = await t.host.startSession({
      agent: agent({ tools: ["Bash"] }),
      cwd: t.cwd,
      environment: { ...SANDBOX, limits },
    });
    const result = await session.send("Go.").result();
    expect(result.stopReason).toEqual({ type: "budget_reached" });
    expect(result.limit).toMatchObject({ which, limit: Object.values(limits ?? {})[0] });
    if (which !== "cpu_seconds") return;
    // What is spent stays spent.
    const before = (await eventsOf(t.host, session.id)).length;
    expect((await session.send("Again.").result()).limit).toMatchObject({ which });
    const since = (await eventsOf(t.host, session.id)).slice(before);
    expect(ofType(since, "capstan.process_started")).toEqual([]);
  });
});

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
