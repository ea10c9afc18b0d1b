import { spawn } from "node:child_process";
import { homedir } from "node:os";
import { CapstanError } from "../../core/errors.ts";

const TIME_LIMIT_MS = 30_000;
/** Characters. A credential has a few hundred; a command that prints endlessly must not fill the memory. */
const MAX_STDOUT = 65_536;
const STDERR_TAIL = 4096;

interface CommandOptions {
  /** Milliseconds (default: 30 seconds). */
  readonly timeLimitMs?: number;
}

/**
 * The trimmed output of a command in the user's settings. It runs in the user's home, not in a project's directory,
 * whose files could be mistaken for programs.
 */
export function runCredentialCommand(
  command: string,
  environment: NodeJS.ProcessEnv,
  { timeLimitMs = TIME_LIMIT_MS }: CommandOptions = {},
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn("/bin/sh", ["-c", command], {
      cwd: environment["HOME"] || homedir(),
      env: environment,
      stdio: ["ignore", "pipe", "pipe"],
      // In its own process group, so that everything it started ends with it.
      detached: true,
    });
    let stdout = "";
    let stderr = "";
    let problem: string | undefined;
    const end = (why: string): void => {
      problem ??= why;
      killGroup(child.pid);
    };
    const timer = setTimeout(() => end(`did not end within ${timeLimitMs / 1000} s`), timeLimitMs);
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      if (stdout.length > MAX_STDOUT) end(`printed more than ${MAX_STDOUT} characters`);
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr = (stderr + text).slice(-STDERR_TAIL);
    });
    child.on("error", (error) => end(`could not be started (${error.message})`));
    // Processes it left behind would hold the pipes open.
    child.on("exit", () => killGroup(child.pid));
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (code !== 0) problem ??= code === null ? `was ended by ${signal}` : `ended with exit code ${code}`;
      if (problem === undefined && stdout.trim() === "") problem = "printed nothing";
      if (problem === undefined) resolve(stdout.trim());
      else reject(new CommandFailure(problem, stderr.trim().split("\n").at(-1)?.trim() ?? ""));
    });
  });
}

/**
 * Its message is safe for agents and for the log. The command's output is not: it may contain part of a secret, or
 * reveal where it is.
 */
class CommandFailure extends CapstanError {
  readonly #problem: string;
  /** Private, so that nothing that prints an error shows it. */
  readonly #said: string;

  constructor(problem: string, said: string) {
    super("credential_missing", messageFor(problem));
    this.#problem = problem;
    this.#said = said;
  }

  /** For the person at the terminal. */
  get whole(): CapstanError {
    const { code } = this;
    return new CapstanError(
      code,
      messageFor(this.#said ? `${this.#problem}. Its output: ${this.#said}` : this.#problem),
    );
  }
}

/** Rethrows an error, adding the last line of a failed command's output: for those who start or test a host. */
export function tellAll(thrown: unknown): never {
  throw thrown instanceof CommandFailure ? thrown.whole : thrown;
}

function messageFor(problem: string): string {
  return `auth.credential_command ${problem}. Fix the command in your settings, or run it in a shell to see what it does.`;
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It has already ended.
  }
}
