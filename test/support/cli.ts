import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { temporaryDirectory } from "./host.ts";

export interface CliResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Cli extends Disposable {
  readonly cwd: string;
  /** The value of HOME; Capstan's own home is `.capstan` below it. */
  readonly home: string;
  readonly environment: Record<string, string>;
  run(args: readonly string[], options?: CliOptions): Promise<CliResult>;
  start(args: readonly string[], options?: CliOptions): ChildProcessWithoutNullStreams;
}

export interface CliOptions {
  readonly input?: string | Uint8Array;
  readonly environment?: Record<string, string | undefined>;
  readonly cwd?: string;
}

/** The CLI as a process of its own, with a home, a directory and an environment made for the test. */
export function testCli(modelUrl?: string): Cli {
  const directory = temporaryDirectory();
  const home = join(directory.path, "home");
  const cwd = join(directory.path, "work");
  for (const path of [home, cwd]) mkdirSync(path);
  const environment: Record<string, string> = {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    HOME: home,
    ...(modelUrl !== undefined && { ANTHROPIC_BASE_URL: modelUrl, ANTHROPIC_API_KEY: "sk-ant-test" }),
  };
  const start: Cli["start"] = (args, options = {}) => {
    const env = { ...environment, ...options.environment };
    const main = resolve("src/cli/main.ts");
    const child = spawn(process.execPath, [main, ...args], { cwd: options.cwd ?? cwd, env, stdio: "pipe" });
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
    return child;
  };
  return {
    cwd,
    home,
    environment,
    start,
    async run(args, options) {
      const child = start(args, options);
      const [code, stdout, stderr] = await Promise.all([
        new Promise<number | null>((done) => child.once("exit", done)),
        text(child.stdout),
        text(child.stderr),
      ]);
      return { code, stdout, stderr };
    },
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  };
}
