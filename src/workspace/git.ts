import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CapstanError } from "../core/errors.ts";
import { onAbort } from "../core/text/on-abort.ts";
import { findProgram, hostPath, safePath } from "../process/programs.ts";

export interface GitOptions {
  readonly cwd?: string;
  /** Beside PATH, which is the host's own; nothing else of the host's environment is passed on unless it is named here. */
  readonly environment?: Readonly<Record<string, string>>;
  readonly input?: Uint8Array | string;
  /** Ends the command. It rejects with the signal's reason when that is a `CapstanError`, and else as interrupted. */
  readonly signal?: AbortSignal | undefined;
  /** In bytes: a command that says more is ended, and rejects with `too_large`. */
  readonly maxOutput?: number | undefined;
  /** Where the output goes to, piece by piece; `stdout` is empty then. */
  readonly outputFile?: string;
  /** Exit codes that are no failure, besides 0. */
  readonly accept?: readonly number[];
  /** Lets the configuration of the user and of the system apply, as credentials need it; `environment` must name HOME. */
  readonly configured?: boolean;
  /** Where setpriv can do it, the command is killed when this process dies: for one that changes a user's files. */
  readonly dieWithHost?: boolean;
}

export interface GitOutput {
  readonly stdout: Buffer;
  readonly stderr: string;
  readonly code: number;
}

/** Nothing that a user, a system or a repository has configured may change what a command of ours does. */
const HERMETIC = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  // What a partial clone lacks it would get from an address, or by a program, that its configuration names.
  GIT_NO_LAZY_FETCH: "1",
  GIT_ALLOW_PROTOCOL: "",
  LC_ALL: "C",
} as const;

/** The user's own git, but nobody is there to answer a question. */
const CONFIGURED = {
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "false",
  SSH_ASKPASS: "false",
  SSH_ASKPASS_REQUIRE: "force",
  GCM_INTERACTIVE: "never",
  LC_ALL: "C",
} as const;

/** Runs git with an environment of its own. Rejects with `workspace_failed`, which says what git said. */
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
  // A command that ends before it has read everything says so by its exit code.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const exited = new Promise<number>((resolve, reject) => {
    child.on("error", (error: NodeJS.ErrnoException) => reject(notStarted(error)));
    child.on("close", (exit, killed) => resolve(exit ?? (killed === null ? 1 : 128)));
  });
  const takeBack = signal === undefined ? () => {} : onAbort(signal, () => end(child));
  const [output, ending] = await Promise.allSettled([collect(child, child.stdout, options), exited]);
  takeBack();
  // One that is interrupted still cleans up; what it made may only be removed after that.
  stopIfAborted(signal);
  if (ending.status === "rejected") throw ending.reason;
  if (output.status === "rejected") throw output.reason;
  const code = ending.value;
  const said = Buffer.concat(stderr).toString();
  if (code !== 0 && !accept.includes(code)) throw failed(args, said, code);
  return { stdout: output.value, stderr: said, code };
}

/** What the command says, or nothing when a file has it. */
async function collect(child: ChildProcess, stdout: Readable, options: GitOptions): Promise<Buffer> {
  const { maxOutput = Number.POSITIVE_INFINITY, outputFile } = options;
  let size = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of stdout as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxOutput) throw tooMuch(maxOutput);
      yield chunk;
    }
  }
  try {
    if (outputFile === undefined) return Buffer.concat(await Array.fromAsync(counted()));
    await pipeline(counted, createWriteStream(outputFile, { mode: 0o600 }));
    return Buffer.alloc(0);
  } catch (thrown) {
    // Nobody listens to it any more.
    end(child);
    throw thrown;
  }
}

/** In milliseconds: what a command has to remove its own files. */
const GRACE = 5_000;

function end(child: ChildProcess): void {
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), GRACE).unref();
  child.once("exit", () => {
    clearTimeout(timer);
    // A program that git started, such as the one for https, may hold these open for as long as its server is silent.
    child.stdout?.destroy();
    child.stderr?.destroy();
  });
}

function tooMuch(limit: number): CapstanError {
  return new CapstanError(
    "too_large",
    `This has more than ${limit} bytes, which is more than one answer may have. Narrow it, for example to one file or to fewer checkpoints.`,
    { data: { limit: "bytes" } },
  );
}

function stopIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted !== true) return;
  const reason: unknown = signal.reason;
  if (reason instanceof CapstanError) throw reason;
  throw new CapstanError("workspace_failed", "It was interrupted.", { cause: reason });
}

/** Part of util-linux; elsewhere a command may outlive a host that was killed. */
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

/** A checkout that fails does not say why it could not write, nor a server that says only where to look. */
const ADVICE = [
  [/No space left on device/i, " The disk is full: make room and try again."],
  [
    /returned error: 30\d/,
    " Redirects are not followed: give the address that the repository has now, with .git at its end.",
  ],
  [/unable to write/i, " Check that there is room on the disk, and that it can be written."],
] as const;

function failed(args: readonly string[], stderr: string, code: number): CapstanError {
  const said = stderr.trim().slice(-2_000);
  const advice = ADVICE.find(([words]) => words.test(said))?.[1] ?? "";
  const command = args.find((arg) => !arg.startsWith("-") && !arg.includes("=")) ?? "";
  return new CapstanError("workspace_failed", `git ${command} failed (exit ${code}): ${said}${advice}`, {
    data: { args: [...args], code },
  });
}
