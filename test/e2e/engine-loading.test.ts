import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../support/host.ts";

const run = promisify(execFile);

/** Which of the engines' own modules a host has loaded by the end of a turn. */
async function loadedBy(engine: "claude" | "direct"): Promise<readonly string[]> {
  using directory = temporaryDirectory();
  const { stdout } = await run(process.execPath, [resolve("test/support/engine-loading.ts"), engine, directory.path], {
    env: { PATH: process.env["PATH"], HOME: directory.path },
  });
  return JSON.parse(stdout) as readonly string[];
}

test("a host whose sessions run on direct never loads the Claude SDK", async () => {
  expect(await loadedBy("direct")).toEqual(["heard"]);
});

test("a host loads the Claude SDK with the first session that needs it", async () => {
  const [answer, ...modules] = await loadedBy("claude");
  expect(answer).toBe("heard");
  expect(modules.some((module) => module.includes("@anthropic-ai/claude-agent-sdk/"))).toBe(true);
});
