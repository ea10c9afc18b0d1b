import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CapstanError } from "../core/errors.ts";
import { onAbort } from "../core/text/on-abort.ts";
import { findProgram, hostPath, safePath } from "../process/programs.ts";

export interface GitOptions {
  readonly cwd?: string;
  /** Added to PATH, the only variable taken from the host. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: Uint8Array | string;
  /** Stops the command. It rejects with the signal's reason if that is a `CapstanError`, otherwise as interrupted. */
  readonly signal?: AbortSignal | undefined;
  /** In bytes: a command that prints more is stopped and rejects with `too_large`. */
  readonly maxOutput?: number | undefined;
  /** Streams the output to this file; `stdout` is then empty. */
  readonly outputFile?: string;
  /** Exit codes that count as success, besides 0. */
  readonly accept?: readonly number[];
  /** Applies the user's and the system's configuration, for credentials; `environment` must set HOME. */
  readonly configured?: boolean;
  /** If setpriv is available, kills the command when this process dies: for commands that change a user's files. */
  readonly dieWithHost?: boolean;
}

export interface GitOutput {
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly code: number;
}

/** No user, system or repository configuration may change our commands. */
const HERMETIC = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  // A partial clone would fetch missing objects from an address, or with a program, in its configuration.
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "",
  LC_ALL: "C",
} as const;

/** The user's own git, but without interactive prompts. */
const CONFIGURED = {
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "false",
  SSH_ASKPASS: "false",
  SSH_ASKPASS_REQUIRE: "force",
  GCM_INTERACTIVE: "never",
  LC_ALL: "C",
} as const;

/** Runs git with a separate environment. Rejects with `workspace_failed` and git's message. */
export async function git(args: readonly string[], options: GitOptions = {}): Promise<GitOutput> {
  const { cwd, environment = {}, input, signal, accept = [], configured = false, dieWithHost = false } = options;
  stopIfAborted(signal);
  const fixed = configured ? CONFIGURED : HERMETIC;
  const file = findProgram("git", { outside: cwd });
  if (file === undefined) throw notFound();
  const [program = file, ...given] = [...(dieWithHost ? boundToHost(cwd) : []), file, ...args];
  const child = spawn(program, given, {
    cwd,
    env: { ...fixed, ...environment, PATH: safePath(hostPath(), { outside: cwd }) },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const stderr: Buffer[] = [];
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
  // A command that ends before it has read everything reports that by its exit code.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const exited = new Promise<number>((resolve, reject) => {
    child.on("error", (error: NodeJS.ErrnoException) => reject(notStarted(error)));
    child.on("close", (exit, killed) => resolve(exit ?? (killed === null ? 1 : 128)));
  });
  const takeBack = signal === undefined ? () => {} : onAbort(signal, () => end(child));
  const [output, ending] = await Promise.allSettled([collect(child, child.stdout, options), exited]);
  takeBack();
  // An interrupted command still cleans up; remove its files only after that.
  stopIfAborted(signal);
  if (ending.status === "rejected") throw ending.reason;
  if (output.status === "rejected") throw output.reason;
  const code = ending.value;
  const said = Buffer.concat(stderr).toString();
  if (code !== 0 && !accept.includes(code)) throw gitFailure(args, said, code);
  return { stdout: output.value, stderr: said, code };
}

/** The command's output; empty if it goes to a file. */
async function collect(child: ChildProcess, stdout: Readable, options: GitOptions): Promise<Buffer> {
  const { maxOutput = Number.POSITIVE_INFINITY, outputFile } = options;
  let size = 0;
  async function* limitOutput(): AsyncGenerator<Buffer> {
    for await (const chunk of stdout as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxOutput) throw tooMuch(maxOutput);
      yield chunk;
    }
  }
  try {
    if (outputFile === undefined) return Buffer.concat(await Array.fromAsync(limitOutput()));
    await pipeline(limitOutput, createWriteStream(outputFile, { mode: 0o600 }));
    return Buffer.alloc(0);
  } catch (thrown) {
    // Nothing reads it any more.
    end(child);
    throw thrown;
  }
}

/** In milliseconds: the time a command has to remove its own files. */
const GRACE = 5_000;

function end(child: ChildProcess): void {
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), GRACE).unref();
  child.once("exit", () => {
    clearTimeout(timer);
    // A program started by git, such as the one for https, may keep these open as long as its server sends nothing.
    child.stdout?.destroy();
    child.stderr?.destroy();
  });
}

function tooMuch(limit: number): CapstanError {
  return new CapstanError(
    "too_large",
    `The result has more than ${limit} bytes, the limit for one response. Narrow it, for example to one file or to fewer checkpoints.`,
    { data: { limit: "bytes" } },
  );
}

function stopIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  const reason: unknown = signal.reason;
  if (reason instanceof CapstanError) throw reason;
  throw new CapstanError("workspace_failed", "The command was interrupted.", { cause: reason });
}

/** Part of util-linux; without it, a command may outlive a killed host. */
function boundToHost(cwd: string | undefined): readonly string[] {
  const setpriv = findProgram("setpriv", { outside: cwd });
  return setpriv === undefined ? [] : [setpriv, "--pdeathsig", "KILL", "--"];
}

function notStarted(error: NodeJS.ErrnoException): CapstanError {
  if (error.code === "ENOENT") return notFound(error);
  return new CapstanError("workspace_failed", `git could not be started: ${error.message}`, { cause: error });
}

function notFound(cause?: unknown): CapstanError {
  return new CapstanError("workspace_failed", "git was not found. Install git, or put it on the PATH.", {
    cause,
    data: { missing: "git" },
  });
}

/** Hints for messages that do not contain the cause. */
const ADVICE = [
  [/No space left on device/i, " The disk is full: free some space and try again."],
  [/returned error: 30\d/, " Redirects are not followed: use the repository's current URL, with .git at its end."],
  [/unable to write/i, " Check that the disk has free space and can be written to."],
] as const;

function gitFailure(args: readonly string[], stderr: string, code: number): CapstanError {
  const said = stderr.trim().slice(-2_000);
  const advice = ADVICE.find(([words]) => words.test(said))?.[1] ?? "";
  const command = args.find((arg) => !arg.startsWith("-") && !arg.includes("=")) ?? "";
  return new CapstanError("workspace_failed", `git ${command} failed (exit ${code}): ${said}${advice}`, {
    data: { args: [...args], code },
  });
}
