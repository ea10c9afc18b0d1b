import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openHost } from "../../src/app/open-host.ts";
import type { StartOptions } from "../../src/runtime/session-options.ts";
import { agent, ANY_PRESSURE, eventsOf, testEnvironment } from "./host.ts";
import { type Reply, say, scriptedModel, toolUse } from "./scripted-model.ts";
import { TEST_ENGINE } from "./test-engine.ts";

export type Call = readonly [tool: string, input: Record<string, unknown>];

/** A repository of the person's. Not below /tmp, which the sandbox hides. */
export function repository() {
  const base = mkdtempSync("/var/tmp/capstan-configuration-");
  const cwd = join(base, "project");
  mkdirSync(join(cwd, "sub"), { recursive: true });
  const env = { PATH: process.env["PATH"], HOME: base, GIT_CONFIG_NOSYSTEM: "1" };
  const git = (...args: string[]): string => execFileSync("git", args, { cwd, env, encoding: "utf8", stdio: "pipe" });
  git("init", "-q");
  git("config", "user.name", "Person");
  git("config", "user.email", "person@example.com");
  writeFileSync(join(cwd, "a.txt"), "a");
  git("add", "-A");
  git("commit", "-qm", "first");
  const at = (name: string): string => join(cwd, name);
  return { base, cwd, at, git, [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }) };
}

/** Has a real agent make the calls, one after another, in yolo mode; tells what each of them returned. */
export async function makeCalls(
  calls: readonly Call[],
  { base, cwd }: ReturnType<typeof repository>,
  options: Pick<StartOptions, "environment" | "askPermission">,
) {
  const results: string[] = [];
  await using model = await scriptedModel(({ toolResults }): Reply => {
    results.push(...toolResults.map(({ text }) => text));
    const [tool, input] = calls[results.length] ?? [];
    if (tool === undefined || input === undefined) return say("done");
    return { blocks: [toolUse(tool, input, `toolu_${results.length}`)] };
  });
  await using host = await openHost({
    home: join(base, "home"),
    engine: TEST_ENGINE,
    environment: testEnvironment(model.url),
    capacity: ANY_PRESSURE,
  });
  const permissions = { mode: "yolo", allow: ["Bash", "Edit", "Write"] } as const;
  const session = await host.startSession({
    agent: agent({ tools: ["Bash", "Read", "Write"], permissions: { ...permissions, allow: [...permissions.allow] } }),
    cwd,
    ...options,
    environment: { checkpoints: { mode: "off" }, ...options.environment },
  });
  await session.send("Do your worst.").result();
  const events = await eventsOf(host, session.id);
  await session.close();
  return { results, events };
}
