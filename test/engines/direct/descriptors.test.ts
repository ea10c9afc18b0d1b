import { execFile } from "node:child_process";
import { readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { testShell } from "./test-shell.ts";
import { textOf, toolWorkspace } from "./tool-workspace.ts";

const ROUNDS = 12;

/** Files below these directories that this process holds open. */
function heldIn(...directories: readonly string[]): string[] {
  return readdirSync("/proc/self/fd").flatMap((name) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${name}`);
      return directories.some((directory) => path.startsWith(directory)) ? [path] : [];
    } catch {
      // The descriptor of the listing itself.
      return [];
    }
  });
}

test("files and commands side by side never close each other's descriptors, and leave none open", async () => {
  const shell = await testShell();
  using files = toolWorkspace();
  const small = files.write("small.txt", "small\n");
  const large = files.write("large.txt", "a line of text\n".repeat(1_500_000));
  const changed = files.write("changed.txt", "0");
  await files.call("Read", { file_path: changed });
  for (let round = 1; round <= ROUNDS; round++) {
    const reads = Array.from({ length: 8 }, () => files.call("Read", { file_path: small }));
    const [part, edit, missing, echo, flood, ...texts] = await Promise.all([
      files.call("Read", { file_path: large, offset: 1_400_000, limit: 2 }),
      files.call("Edit", { file_path: changed, old_string: `${round - 1}`, new_string: `${round}` }),
      files.call("Read", { file_path: `${small}.missing` }),
      shell.run("echo $((6*7))"),
      // More than is kept in memory.
      shell.run("head -c 200000 /dev/zero | tr '\\0' x"),
      ...reads,
    ]);
    expect(textOf(part)).toBe("1400000\ta line of text\n1400001\ta line of text");
    expect(textOf(edit)).toContain("has been updated successfully");
    expect(textOf(missing)).toMatch(/does not exist/i);
    expect(echo.text).toBe("42");
    expect(flood.text).toContain("All 200000 bytes are in");
    expect(texts.map(textOf)).toEqual(reads.map(() => "1\tsmall\n2\t"));
  }
  expect(heldIn(files.cwd, shell.at())).toEqual([]);
});

test("a host without free descriptors fails the calls that need some, says why, and works again", async () => {
  const { at } = await testShell();
  using files = toolWorkspace();
  files.write("a.txt", "");
  const script = join(import.meta.dirname, "starved-host.ts");
  const { stdout } = await promisify(execFile)(
    "/bin/bash",
    ["-c", 'ulimit -n 250; exec "$@"', "bash", process.execPath, script, files.cwd, at("capstan/state")],
    { env: { PATH: "/usr/local/bin:/usr/bin:/bin" } },
  );
  type Attempt = Record<"command" | "search", string>;
  const { before, starved, after } = JSON.parse(stdout) as { before: Attempt; starved: Attempt[]; after: Attempt };
  expect(before).toEqual({ command: "up", search: "a.txt\n" });
  expect(after).toEqual(before);
  for (const { command, search } of starved) {
    expect(command).toMatch(/^up$|EMFILE/);
    expect(search).toMatch(/^a\.txt\n$|EMFILE/);
  }
  expect(starved.map(({ command }) => command).join("\n")).toContain("spawn");
  expect(starved.map(({ search }) => search).join("\n")).toContain("spawn");
});
