import { execFile } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryDirectory } from "./support/host.ts";

const run = promisify(execFile);
const examples = readdirSync("examples").filter((file) => file.endsWith(".ts"));

/** What the comment at the head of an example promises: one `// prints: …` line for each piece of output. */
function promisesOf(file: string): string[] {
  return [...readFileSync(join("examples", file), "utf8").matchAll(/^\/\/ prints: (.+)$/gm)].map(
    (match) => match[1] ?? "",
  );
}

test.for(examples)("%s prints what it promises, ends by itself and leaves nothing behind", async (file) => {
  const promises = promisesOf(file);
  expect(promises).not.toEqual([]);
  using directory = temporaryDirectory();
  const home = join(directory.path, "home");
  const temporary = join(directory.path, "tmp");
  for (const path of [home, temporary]) mkdirSync(path);
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home, TMPDIR: temporary };

  // Rejects when the exit code is not 0. The examples import the package by its name, and so run its build.
  const { stdout, stderr } = await run(process.execPath, [join("examples", file)], { env, timeout: 50_000 });
  for (const promise of promises) expect(stdout).toContain(promise);
  expect(stderr).toBe("");
  expect([...readdirSync(home), ...readdirSync(temporary)]).toEqual([]);
});
