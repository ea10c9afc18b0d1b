import { mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Cli, testCli } from "../support/cli.ts";

/** A search path with everything that the machine has but these programs. */
function without(cli: Cli, missing: readonly string[]): { readonly environment: { readonly PATH: string } } {
  const directory = join(cli.home, "bin");
  mkdirSync(directory);
  const seen = new Set(missing);
  for (const place of (cli.environment["PATH"] ?? "").split(":"))
    for (const name of entriesOf(place)) {
      if (seen.has(name)) continue;
      seen.add(name);
      symlinkSync(join(place, name), join(directory, name));
    }
  return { environment: { PATH: directory } };
}

function entriesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

const WORK = ["run", "--rehearsal", "--mode", "yolo"];

test("without git the agent works, and is said once to work without a net", async () => {
  using cli = testCli();
  const { code, stdout, stderr } = await cli.run(
    [...WORK, "write a.txt with 1, then write b.txt with 2"],
    without(cli, ["git"]),
  );
  expect(code).toBe(0);
  expect(stdout).toContain("Wrote b.txt.");
  expect(stdout).not.toContain("changed");
  expect(stderr).toMatch(/^capstan: WARNING: changes by the agent cannot be undone\. [^\n]*git[^\n]*\n$/);
});

test("without bubblewrap a sandbox that is preferred is missed loudly, and one that is required ends the run", async () => {
  using cli = testCli();
  const machine = without(cli, ["bwrap"]);
  const preferred = await cli.run([...WORK, "--sandbox", "preferred", "run echo hi"], machine);
  expect(preferred.code).toBe(0);
  expect(preferred.stderr).toMatch(
    /^capstan: WARNING: commands run without a sandbox\. bubblewrap[^\n]*not installed[^\n]*\n$/,
  );
  const required = await cli.run([...WORK, "--sandbox", "required", "run echo hi"], machine);
  expect(required.code).toBe(3);
  expect(required.stderr).toContain("apt-get install bubblewrap");
  expect(required.stdout).toBe("");
});

test("the doctor says what is missing without them, and that they stop nobody", async () => {
  using cli = testCli();
  const { code, stdout } = await cli.run(["doctor"], without(cli, ["git", "bwrap", "socat"]));
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^! git +not found\n +→ Install git\. Checkpoints \(diff, rewind, export\), worktrees and clones need it\./m,
  );
  expect(stdout).toMatch(/^! sandbox +not available\n +→ .*apt-get install bubblewrap socat/m);
  expect(stdout).toMatch(/^✓ rehearsal +an agent ran a command$/m);
});
