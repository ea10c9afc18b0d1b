import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { collect, exitOf, testCli } from "../support/cli.ts";
import { call, say, scriptedModel } from "../support/scripted-model.ts";

/** All processes below this one, whatever namespace they are in. */
function below(pid: number): number[] {
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => (statOf(name)?.parent === pid ? [Number(name)] : []));
  return children.flatMap((child) => [child, ...below(child)]);
}

/** Undefined when the process has ended, also when nobody has asked for its exit code yet. */
function statOf(pid: number | string): { readonly parent: number } | undefined {
  try {
    // The name, in parentheses, may contain anything.
    const [state, parent] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    return state === "Z" || state === "X" ? undefined : { parent: Number(parent) };
  } catch {
    return undefined;
  }
}

test("a second Ctrl-C leaves at once with 130, leaves no process behind, and the session goes on", async () => {
  await using model = await scriptedModel((request) =>
    request.last.includes("Work") && request.toolResults.length === 0
      ? call("Bash", { command: "echo started > effects.txt; sleep 60" })
      : say(`answer ${request.index}`),
  );
  using cli = testCli(model.url);
  const child = cli.start(["run", "--mode", "yolo", "--json", "Work."]);
  const stdout = collect(child.stdout);
  await expect.poll(() => existsSync(join(cli.cwd, "effects.txt")), { timeout: 20_000 }).toBe(true);
  // An agent that does not listen: the first Ctrl-C has to wait for it.
  const started = below(child.pid ?? 0);
  expect(started.length).toBeGreaterThan(1);
  for (const pid of started) process.kill(pid, "SIGSTOP");
  child.kill("SIGINT");
  await expect.poll(() => stdout.text).toContain('"type":"user.interrupt"');
  child.kill("SIGINT");
  expect(await exitOf(child)).toBe(130);
  expect(stdout.text).not.toContain("session.status_idle");
  await expect.poll(() => started.filter((pid) => statOf(pid) !== undefined), { timeout: 20_000 }).toEqual([]);

  const resumed = await cli.run(["run", "-c", "Go on."]);
  expect(resumed.code).toBe(0);
  expect(model.requests.at(-1)?.transcript).toMatch(/Work\.[^]*outcome is unknown[^]*Go on\./);
});

test("show --follow ends with 130 on Ctrl-C, and with what it knows", async () => {
  await using model = await scriptedModel(() => say("the answer"));
  using cli = testCli(model.url);
  await cli.run(["run", "question"]);
  const [{ id }] = [JSON.parse((await cli.run(["sessions", "list", "--json"])).stdout) as { id: string }];
  for (const flags of [[], ["--json"]]) {
    const child = cli.start(["sessions", "show", id, "--follow", ...flags]);
    const stdout = collect(child.stdout);
    const stderr = collect(child.stderr);
    await expect.poll(() => stdout.text).toContain("the answer");
    child.kill("SIGINT");
    expect(await exitOf(child)).toBe(130);
    expect(stderr.text).toBe("");
    if (flags.length === 0) expect(stdout.text).toMatch(/ · session [0-9a-f]{8}\n$/);
  }

  // A reader that goes away has seen enough, which is no interruption.
  const leaving = ["sh", "-c", '{ "$@"; echo $? > code.txt; } | head -1', "sh"];
  await cli.run(["sessions", "show", id], { within: leaving });
  expect(readFileSync(join(cli.cwd, "code.txt"), "utf8")).toBe("0\n");
});
