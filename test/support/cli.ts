import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll } from "vitest";
import { temporaryDirectory } from "./host.ts";
import { TEST_ENGINE } from "./test-engine.ts";

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
  /** A command, with its first arguments, that runs the CLI: under a limit, or in a namespace. */
  readonly within?: readonly string[];
}

/** Node need not compile the same files again and again; nothing else changes. */
export const FASTER = { NODE_COMPILE_CACHE: resolve("node_modules/.cache/node-compile") };

/** The program as users get it, which also starts sooner, when it was built after the last change, as by `npm test`. */
export const PROGRAM = resolve(isBuilt() ? "dist/cli/main.js" : "src/cli/main.ts");

/** A directory for the search path, in which `capstan` is this program. */
export function putProgram(directory: string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "capstan"), `#!/bin/sh\nexec node '${PROGRAM}' "$@"\n`, { mode: 0o755 });
}

/** Whether the build that is here is that of these sources. */
export function isBuilt(): boolean {
  const built = changedAt("dist/cli/main.js");
  return readdirSync("src", { recursive: true, encoding: "utf8" }).every(
    (file) => changedAt(join("src", file)) < built,
  );
}

function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

/** The CLI as a process of its own, with a home, a directory and an environment made for the test. */
export function testCli(modelUrl?: string): Cli {
  const directory = temporaryDirectory();
  const cli = cliIn(directory.path, modelUrl);
  return {
    ...cli,
    [Symbol.dispose]: () => {
      cli[Symbol.dispose]();
      directory[Symbol.dispose]();
    },
  };
}

/**
 * The CLI where something was done before: once, however many tests of the file begin there. Each finds it as it was
 * then, and at the same path, because a session knows where it works. One thing a copy cannot have: a workspace without
 * checkpoints that counts as unchanged, because its files are new.
 */
export function preparedCli<T>(
  prepare: (open: (modelUrl?: string) => Cli) => Promise<T>,
): (modelUrl?: string) => Promise<Cli & { readonly made: T }> {
  const directory = temporaryDirectory();
  afterAll(() => directory[Symbol.dispose]());
  const [place, kept] = [join(directory.path, "place"), join(directory.path, "kept")];
  const make = async (): Promise<T> => {
    const made = await prepare((modelUrl) => cliIn(place, modelUrl));
    copyTree(place, kept);
    return made;
  };
  let making: Promise<T> | undefined;
  return async (modelUrl) => {
    const made = await (making ??= make());
    rmSync(place, { recursive: true, force: true, maxRetries: 5 });
    copyTree(kept, place);
    return { ...cliIn(place, modelUrl), made };
  };
}

/** Not cpSync, which rounds the times of files: a workspace knows by them what has changed. */
export function copyTree(from: string, to: string): void {
  execFileSync("cp", ["-a", from, to]);
}

function cliIn(place: string, modelUrl?: string): Cli {
  const home = join(place, "home");
  const cwd = join(place, "work");
  for (const path of [home, cwd]) mkdirSync(path, { recursive: true });
  const environment: Record<string, string> = {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    HOME: home,
    CAPSTAN_ENGINE: TEST_ENGINE,
    ...FASTER,
    ...(modelUrl !== undefined && { ANTHROPIC_BASE_URL: modelUrl, ANTHROPIC_API_KEY: "sk-ant-test" }),
  };
  const started: ChildProcessWithoutNullStreams[] = [];
  const start: Cli["start"] = (args, options = {}) => {
    const env = { ...environment, ...options.environment };
    const [command = "", ...rest] = [...(options.within ?? []), process.execPath, PROGRAM, ...args];
    const child = spawn(command, rest, { cwd: options.cwd ?? cwd, env, stdio: "pipe" });
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
    started.push(child);
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
    [Symbol.dispose]: () => {
      // A test that failed has not ended what it started.
      for (const child of started) if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    },
  };
}

/** Until the child is gone; its exit code. */
export async function exitOf(child: ChildProcessWithoutNullStreams): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  return child.exitCode;
}

/** All that a stream says, as it comes. */
export function collect(stream: Readable): { readonly text: string } {
  const seen = { text: "" };
  stream.setEncoding("utf8").on("data", (chunk: string) => (seen.text += chunk));
  return seen;
}
