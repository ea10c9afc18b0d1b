import { spawn } from "node:child_process";
import { homedir } from "node:os";
import { CapstanError } from "../../core/errors.ts";

const TIME_LIMIT_MS = 30_000;
/** In characters. A credential has a few hundred; a command that prints without end must not fill the memory. */
const MAX_STDOUT = 65_536;
const STDERR_TAIL = 4096;

interface CommandOptions {
  /** Milliseconds. Default: half a minute. */
  readonly timeLimitMs?: number;
}

/**
 * What a command of the user's settings prints, without the white space around it. It runs in the user's home, not in
 * the directory of a project, whose files could pass for programs.
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
      // A group of its own, so that whatever it started ends with it.
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
    // What it left behind would hold the pipes open.
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
 * Its message is fit for agents and for the log. What the command said is not: it may be a part of a secret, or tell
 * where it lies.
 */
class CommandFailure extends CapstanError {
  readonly #problem: string;
  /** Private, so that nothing that shows an error shows it. */
  readonly #said: string;

  constructor(problem: string, said: string) {
    super("credential_missing", messageFor(problem));
    this.#problem = problem;
    this.#said = said;
  }

  /** For the person at the terminal. */
  get whole(): CapstanError {
    const { code } = this;
    return new CapstanError(code, messageFor(this.#said ? `${this.#problem}. It said: ${this.#said}` : this.#problem));
  }
}

/** Throws it again, a command's failure with the last line of what it said: for those who start or test a host. */
export function tellAll(thrown: unknown): never {
  throw thrown instanceof CommandFailure ? thrown.whole : thrown;
}

function messageFor(problem: string): string {
  return `auth.credential_command ${problem}. Mend the command in your settings, or run it in a shell to see what it does.`;
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // There is nothing left of it.
  }
}
