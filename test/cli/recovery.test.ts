import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Cli, collect, exitOf, testCli } from "../support/cli.ts";
import { call, say, scriptedModel, type Script } from "../support/scripted-model.ts";
import { recordTrust } from "../support/trust.ts";

/** Works on a task until its tool call is under way; whatever else it is asked, it answers. */
const worker: Script = (request) =>
  request.last.includes("Work") && request.toolResults.length === 0
    ? call("Bash", { command: "echo started >> effects.txt; sleep 60; echo late >> effects.txt" })
    : say("an answer");

/** Leaves a session in a turn, as a host that is killed does. Gives the short id. */
async function leaveSession(cli: Cli, cwd = cli.cwd): Promise<string> {
  const child = cli.start(["run", "--mode", "yolo", "--json", "Work on it."], { cwd });
  await expect.poll(() => existsSync(join(cwd, "effects.txt")), { timeout: 20_000 }).toBe(true);
  child.kill("SIGKILL");
  await exitOf(child);
  const { stdout } = await cli.run(["sessions", "list", "--json", "--limit", "1"]);
  return (JSON.parse(stdout) as { id: string }).id.slice(-8);
}

async function project(cli: Cli, { name, onCrash }: { name: string; onCrash?: "continue" | "stop" }): Promise<string> {
  const root = join(cli.cwd, name);
  mkdirSync(join(root, ".capstan"), { recursive: true });
  if (onCrash !== undefined) writeFileSync(join(root, ".capstan", "config.yaml"), `on_crash: ${onCrash}\n`);
  await recordTrust({ ...cli, cwd: root });
  return root;
}

/** Turns of sessions in one directory wait for each other; in two of a project they run side by side. */
function twoDirectories(root: string): { readonly left: string; readonly own: string } {
  const places = { left: join(root, "left"), own: join(root, "own") };
  for (const place of Object.values(places)) mkdirSync(place);
  return places;
}

async function statusOf(cli: Cli, id: string): Promise<string> {
  const { stdout } = await cli.run(["sessions", "list", "--json"]);
  const sessions = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { id: string; status: string });
  return sessions.find((session) => session.id.endsWith(id))?.status ?? "unknown";
}

test("without a setting, run ends the turn that a dead host left, asks the model nothing about it, and it can go on", async () => {
  await using model = await scriptedModel(worker);
  using cli = testCli(model.url);
  const id = await leaveSession(cli);
  const next = await cli.run(["run", "hello"]);
  expect(next.code).toBe(0);
  expect(next.stderr).toBe(
    `capstan: Session ${id} was interrupted when its host died; Capstan ended the turn. Continue with: capstan run --resume ${id} "…"\n`,
  );
  expect(await statusOf(cli, id)).toBe("idle");
  expect(model.requests.filter(({ transcript }) => transcript.includes("Work on it.")).length).toBe(1);
  expect((await cli.run(["sessions", "show", id])).stdout).toContain("The host that drove this session ended");

  const resumed = await cli.run(["run", "--resume", id, "What happened?"]);
  expect(resumed.code).toBe(0);
  expect(resumed.stderr).toBe("");
  expect(model.requests.at(-1)?.transcript).toMatch(/Work on it\.[^]*outcome is unknown[^]*What happened\?/);
  expect(readFileSync(join(cli.cwd, "effects.txt"), "utf8")).toBe("started\n");
});

test("with on_crash: continue, run goes on with it beside its own turn, and leaves when both are over", async () => {
  // The turn of the dead host is answered only after the run's own turn is over: it must be waited for.
  const released = Promise.withResolvers<void>();
  await using model = await scriptedModel((request) =>
    request.toolResults.length > 0 ? say("carried on", { delay: released.promise }) : worker(request),
  );
  using cli = testCli(model.url);
  const { left, own } = twoDirectories(await project(cli, { name: "going-on", onCrash: "continue" }));
  const id = await leaveSession(cli, left);
  const child = cli.start(["run", "hello"], { cwd: own });
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  await expect.poll(() => stdout.text, { timeout: 20_000 }).toMatch(/^an answer\n[^]*session [0-9a-f]{8}\n$/);
  await expect.poll(() => stderr.text).toContain(`Waiting for ${id}.`);
  expect(child.exitCode).toBeNull();
  released.resolve();
  expect(await exitOf(child)).toBe(0);
  expect(stderr.text.split("\n")).toEqual([
    `capstan: Continuing session ${id}, which was interrupted when its host died.`,
    `capstan: Waiting for ${id}. Press Ctrl-C to stop; finished work is kept.`,
    `capstan: Session ${id}: turn ended (end_turn).`,
    "",
  ]);
  expect(stdout.text).not.toContain("carried on");
  expect((await cli.run(["sessions", "show", id])).stdout).toContain("carried on");
  expect(readFileSync(join(left, "effects.txt"), "utf8")).toBe("started\n");
});

test("Ctrl-C interrupts what was gone on with as well", async () => {
  await using model = await scriptedModel((request) =>
    request.toolResults.length > 0 || request.last.includes("hello")
      ? say("word ".repeat(2_000), { pace: 10 })
      : worker(request),
  );
  using cli = testCli(model.url);
  const { left, own } = twoDirectories(await project(cli, { name: "going-on", onCrash: "continue" }));
  const id = await leaveSession(cli, left);
  const child = cli.start(["run", "hello"], { cwd: own });
  const stdout = collect(child.stdout);
  const stderr = collect(child.stderr);
  await expect.poll(() => stdout.text, { timeout: 20_000 }).toContain("word");
  await expect
    .poll(() => model.requests.filter(({ toolResults }) => toolResults.length > 0).length, { timeout: 20_000 })
    .toBe(1);
  child.kill("SIGINT");
  expect(await exitOf(child)).toBe(130);
  expect(stderr.text).toContain(`capstan: Session ${id}: interrupted. Continue with: capstan run --resume ${id} "…"\n`);
  expect(stderr.text).toMatch(/^capstan: Interrupted\. Continue with: capstan run --resume [0-9a-f]{8} "…"$/m);
  const { stdout: list } = await cli.run(["sessions", "list", "--status", "running"]);
  expect(list).toContain("No sessions found");
});

test("Ctrl-C while it only waits for them ends with 130, and says nothing of its own turn, which is over", async () => {
  await using model = await scriptedModel((request) =>
    request.toolResults.length > 0 ? say("word ".repeat(2_000), { pace: 10 }) : worker(request),
  );
  using cli = testCli(model.url);
  const { left, own } = twoDirectories(await project(cli, { name: "going-on", onCrash: "continue" }));
  const id = await leaveSession(cli, left);
  const child = cli.start(["run", "hello"], { cwd: own });
  const stderr = collect(child.stderr);
  await expect.poll(() => stderr.text, { timeout: 20_000 }).toContain("Waiting for");
  child.kill("SIGINT");
  expect(await exitOf(child)).toBe(130);
  expect(stderr.text).toContain(`capstan: Session ${id}: interrupted.`);
  expect(stderr.text).not.toContain("capstan: Interrupted.");
  expect(await statusOf(cli, id)).toBe("idle");
});

test("the sessions of another project are left to that project", async () => {
  await using model = await scriptedModel(worker);
  using cli = testCli(model.url);
  const id = await leaveSession(cli, await project(cli, { name: "one" }));
  const other = await cli.run(["run", "hello"], { cwd: await project(cli, { name: "other", onCrash: "continue" }) });
  expect(other.stderr).toBe("");
  expect(await statusOf(cli, id)).toBe("running");
});

test("a session that cannot be settled is named with the reason, and the run goes on", async () => {
  await using model = await scriptedModel(worker);
  using cli = testCli(model.url);
  const root = await project(cli, { name: "gone" });
  mkdirSync(join(root, "below"));
  const id = await leaveSession(cli, join(root, "below"));
  rmSync(join(root, "below"), { recursive: true });
  const next = await cli.run(["run", "hello"], { cwd: root });
  expect(next.code).toBe(0);
  expect(next.stderr).toMatch(
    new RegExp(`^capstan: Session ${id} was interrupted when its host died and cannot be recovered: .*below`),
  );
});
