import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Cli, collect, testCli } from "../support/cli.ts";
import { until } from "../support/until.ts";

const run = promisify(execFile);
const DIRECTORY = "examples/server";
/** The shortest ones stand in the README. */
const pageOf = (file: string): string =>
  readFileSync(file.startsWith("quickstart") ? "README.md" : "docs/managed-agents.md", "utf8");

let cli: Cli;
let server: { readonly url: string; readonly key: string };
beforeAll(async () => {
  cli = testCli();
  const { stdout } = await cli.run(["keys", "create", "--role", "admin", "--json"]);
  const said = collect(cli.start(["serve", "--port", "0", "--json", "--rehearsal"]).stdout);
  const line = await until(
    () => said.text,
    (text) => text.includes("\n"),
  );
  const { key } = JSON.parse(stdout) as { key: string };
  server = { url: (JSON.parse(line) as { url: string }).url, key };
});
afterAll(() => cli[Symbol.dispose]());

/** The comment at the head of an example promises: one `prints: …` line for each piece of output. */
function promisesOf(text: string): string[] {
  return [...text.matchAll(/^(?:\/\/|#) prints: (.+)$/gm)].map((match) => match[1] ?? "");
}

test.for(readdirSync(DIRECTORY))("%s prints what it promises, and the page shows it", async (file) => {
  const text = readFileSync(join(DIRECTORY, file), "utf8");
  const env = {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: cli.home,
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: server.key,
    CAPSTAN_URL: server.url,
    CAPSTAN_KEY: server.key,
  };
  const program = file.endsWith(".sh") ? "sh" : process.execPath;
  const { stdout, stderr } = await run(program, [resolve(DIRECTORY, file)], { env, timeout: 50_000 });
  expect(promisesOf(text).length).toBeGreaterThan(0);
  for (const promise of promisesOf(text)) expect(stdout).toContain(promise);
  expect(stderr).toBe("");
  const shown = text
    .split("\n")
    .filter((line) => !/^(?:\/\/|#)/.test(line))
    .join("\n")
    .trim();
  expect(pageOf(file)).toContain(shown);
});
