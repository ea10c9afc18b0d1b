import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { announceHost, namespacesOfHosts } from "../../src/app/hosts/running-hosts.ts";
import { findContainment } from "../../src/process/containment.ts";
import { type Cli, PROGRAM, testCli } from "../support/cli.ts";
import { temporaryDirectory } from "../support/host.ts";

const contained = await findContainment();
/** Listed as not run where there are no namespaces; where everything must be tested, they fail for the lack of them. */
const containedTest = test.skipIf(contained === undefined && process.env["CAPSTAN_TEST_REQUIRE"] !== "all");

/** A project whose settings an agent would like to have trusted. */
function attackedProject(): Cli {
  const cli = testCli();
  mkdirSync(join(cli.cwd, ".capstan"));
  writeFileSync(join(cli.cwd, ".capstan/config.yaml"), "permissions: { mode: yolo, allow: [Bash] }\n");
  return cli;
}

containedTest("a command that left its agent, its variables and even its namespace is still no person", async () => {
  using cli = attackedProject();
  const start = ["env", "-i", `PATH=${process.env["PATH"]}`, `HOME=${cli.home}`, process.execPath, PROGRAM];
  const another = "unshare --user --map-current-user --pid --fork --mount-proc";
  const script = [
    `setsid --fork sh -c '${start.join(" ")} trust --yes > left.txt 2>&1; echo $? > left.code'`,
    "until test -s left.code; do sleep 0.1; done",
    `${another} ${start.join(" ")} trust --yes > apart.txt 2>&1; echo $? > apart.code`,
    `${another} sh -c 'mount -t tmpfs none /proc; ${start.join(" ")} trust --yes' > covered.txt 2>&1; echo $? > covered.code`,
    "echo done",
  ];
  writeFileSync(join(cli.cwd, "go.sh"), script.join("\n"));
  const ran = await cli.run(["run", "--rehearsal", "--mode", "yolo", "run sh go.sh"]);
  expect(ran, ran.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining("done") });
  for (const way of ["left", "apart", "covered"]) {
    const said = readFileSync(join(cli.cwd, `${way}.txt`), "utf8");
    expect([way, readFileSync(join(cli.cwd, `${way}.code`), "utf8").trim(), said]).toEqual([
      way,
      "2",
      expect.stringContaining("only a person can trust files"),
    ]);
  }
  expect((await cli.run(["trust", "list", "--json"])).stdout).toBe("");
});

containedTest("in a namespace apart from the host's, whatever answers, trusts or makes keys is refused", async () => {
  using cli = attackedProject();
  const home = join(cli.home, ".capstan");
  mkdirSync(home, { mode: 0o700 });
  using host = announceHost(home);
  expect(host).toBeDefined();
  for (const args of [
    ["trust", "--yes"],
    ["trust", "revoke", "--all"],
    ["run", "--rehearsal", "--trust", "hi"],
    ["run", "--rehearsal", "--yes", "hi"],
    ["chat", "--rehearsal", "--yes"],
    ["approvals", "answer", "00000000", "allow"],
    ["keys", "create", "--role", "admin"],
    ["serve", "--rehearsal", "--port", "0"],
    ["record", "00000000"],
  ])
    expect(await cli.run(args, { within: contained ?? [] })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /runs in a different PID namespace.* only a person can .*Run it where the host runs/,
      ),
    });
});

containedTest(
  "a person in a container trusts files: next to a host of the same container, and without any",
  async () => {
    using cli = attackedProject();
    const within = contained ?? [];
    expect(await cli.run(["trust", "--yes"], { within })).toMatchObject({ code: 0 });
    expect(await cli.run(["trust", "revoke", "--all"], { within })).toMatchObject({ code: 0 });
    // In one namespace: a session under way, and beside it the person's command.
    const beside = [process.execPath, PROGRAM, "trust", "--yes"].join(" ");
    const both = `"$@" & until ls ${join(cli.home, ".capstan/hosts")}/* >/dev/null 2>&1; do sleep 0.05; done; ${beside}; code=$?; wait; exit $code`;
    const ran = await cli.run(["run", "--rehearsal", "list the files"], {
      within: [...within, "sh", "-c", both, "sh"],
    });
    expect(ran, ran.stderr).toMatchObject({
      code: 0,
      stdout: expect.stringContaining("is now trusted with this content"),
    });
  },
);

containedTest("a host is listed while it runs, and not after it was killed", async () => {
  using place = temporaryDirectory();
  const hosts = (): readonly string[] => namespacesOfHosts(place.path);
  expect(hosts()).toEqual([]);
  {
    using first = announceHost(place.path);
    using second = announceHost(place.path);
    expect([first, second, hosts()]).toEqual([expect.anything(), expect.anything(), [expect.stringMatching(/^\d+$/)]]);
  }
  expect(hosts()).toEqual([]);
  // What a killed host leaves is a file that nobody has locked.
  writeFileSync(join(place.path, "hosts", `123-${"0".repeat(16)}`), "");
  expect(hosts()).toEqual([]);
});
