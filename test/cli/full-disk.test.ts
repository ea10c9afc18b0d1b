import { type ChildProcessWithoutNullStreams, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Cli, exitOf, testCli } from "../support/cli.ts";
import { call, say, scriptedModel } from "../support/scripted-model.ts";

/** What follows when the store had no room in a turn, and has some again. */
async function goesOn(cli: Cli, { within }: { within: readonly string[] }): Promise<void> {
  const environment = { CAPSTAN_HOME: join(cli.home, "disk", "capstan") };
  const list = await cli.run(["sessions", "list", "--json"], { environment, within });
  const { id } = JSON.parse(list.stdout) as { id: string };
  const resumed = await cli.run(["run", "-c", "Again."], { environment, within });
  expect(resumed).toMatchObject({ code: 0, stderr: "" });
  expect(resumed.stdout).toContain("done");
  const after = await cli.run(["sessions", "list", "--json"], { environment, within });
  expect(JSON.parse(after.stdout)).toMatchObject({ id, status: "idle" });
}

test("a store that may not grow any more ends the run with one sentence, and the session goes on when it may", async () => {
  // The store has room for the beginning of a turn, and not for the long answer.
  await using model = await scriptedModel(({ last }) => say(last.includes("Again") ? "done" : "word ".repeat(60_000)));
  using cli = testCli(model.url);
  const environment = { CAPSTAN_HOME: join(cli.home, "disk", "capstan") };
  const within = ["sh", "-c", 'ulimit -f 800; exec "$@"', "sh"];
  const { code, stderr } = await cli.run(["run", "Talk."], { environment, within });
  expect(stderr).toMatch(/^capstan: The store .*capstan\.db failed: .*\. If this continues, check the disk/);
  expect(stderr.trim().split("\n").length).toBe(1);
  expect(code).toBe(3);
  await goesOn(cli, { within: [] });
});

/** Ways to mount where nobody else sees it: as anyone, or, where that is forbidden, as root. */
const NAMESPACES = [
  { make: "unshare --user --map-root-user --mount", enter: "nsenter --user --mount --preserve-credentials" },
  { make: "unshare --mount", enter: "nsenter --mount" },
];
const namespace = NAMESPACES.find(
  ({ make }) => spawnSync("sh", ["-c", `${make} mount -t tmpfs tmpfs "$0"`, tmpdir()]).status === 0,
);

/** A disk of 2 MB that only processes started `within` see, and that is gone with the holder. */
async function smallDisk(path: string): Promise<{ holder: ChildProcessWithoutNullStreams; within: readonly string[] }> {
  mkdirSync(path);
  const script = `exec ${namespace?.make} sh -c 'mount -t tmpfs -o size=2m tmpfs "$0" && echo mounted && exec cat' "$0"`;
  const holder = spawn("sh", ["-c", script, path], { stdio: "pipe" });
  await once(holder.stdout, "data");
  const enter = namespace?.enter.split(" ") ?? [];
  return { holder, within: [...enter, "--target", String(holder.pid), "--wd=."] };
}

// Where mounting is forbidden, the test above is what there is.
test.runIf(namespace !== undefined)(
  "a disk that an agent fills ends its turn, refuses the next, and loses nothing",
  async () => {
    await using model = await scriptedModel(() => say("done"));
    using cli = testCli(model.url);
    const path = join(cli.home, "disk");
    const filler = join(path, "filler");
    model.script = (request) =>
      request.last.includes("Again") ? say("done") : call("Bash", { command: `cat /dev/zero > ${filler}; true` });
    const { holder, within } = await smallDisk(path);
    const environment = { CAPSTAN_HOME: join(path, "capstan") };
    try {
      for (const args of [["--mode", "yolo", "Work."], ["Not now."]]) {
        const { code, stderr } = await cli.run(["run", ...args], { environment, within });
        expect(stderr).toMatch(/^capstan: The disk of the store .* is full; .*Free some space and try again\.\n$/);
        expect(code).toBe(3);
      }
      execFileSync(within[0] ?? "", [...within.slice(1), "rm", filler]);
      await goesOn(cli, { within });
      expect(model.requests.at(-1)?.transcript).toMatch(/Work\.[^]*outcome is unknown[^]*Again\./);
    } finally {
      holder.stdin.end();
      await exitOf(holder);
    }
  },
);
