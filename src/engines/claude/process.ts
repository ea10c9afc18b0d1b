import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { basename } from "node:path";
import type { SpawnedProcess, SpawnOptions } from "@anthropic-ai/claude-agent-sdk";
import { CapstanError } from "../../core/errors.ts";
import { onAbort } from "../../core/text/on-abort.ts";
import type { Leftovers } from "../../process/leftovers.ts";

const STDERR_TAIL_BYTES = 8_192;

/** One CLI process: what the SDK needs to control it, and what we need to know about it. */
export class CliProcess {
  #child: ChildProcess | undefined;
  #stderr = "";
  #configDir = "";
  readonly #wrapper: readonly string[];
  readonly #leftovers: Leftovers;

  constructor({ wrapper = [], leftovers }: { wrapper?: readonly string[] | undefined; leftovers: Leftovers }) {
    this.#wrapper = wrapper;
    this.#leftovers = leftovers;
  }

  /** For the SDK's `spawnClaudeCodeProcess`. */
  spawn(options: SpawnOptions): SpawnedProcess {
    const [command = "", ...args] = [...this.#wrapper, options.command, ...options.args];
    const configDir = options.env["CLAUDE_CONFIG_DIR"] ?? "";
    this.#configDir = configDir;
    // The SDK's own copy of a resumed transcript, which the SDK can't remove when it is killed.
    if (basename(configDir).startsWith("claude-resume-")) this.#leftovers.note(configDir);
    // In its own process group: Ctrl-C in a terminal is for the host, which decides what happens to its agents.
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env,
      stdio: ["pipe", "pipe", "pipe"],
      detached: true,
    });
    this.#child = child;
    // The SDK's streams report a failed start.
    child.on("error", () => {});
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_TAIL_BYTES);
    });
    // After SIGTERM the agent would keep working for two seconds, and `unshare` ignores the signal.
    const signal = child.kill.bind(child);
    const kill = (): boolean => signal("SIGKILL");
    onAbort(options.signal, kill);
    return Object.assign(child, { kill });
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Where the CLI writes its files. For a resumed process, this is a directory that the SDK created. */
  get configDir(): string {
    return this.#configDir;
  }

  get stderr(): string {
    return this.#stderr.trim();
  }

  kill(): void {
    this.#child?.kill("SIGKILL");
  }

  /** Resolves when the process has ended; kills it after `graceMs`. */
  async waitForExit(graceMs: number): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const timer = setTimeout(() => this.kill(), graceMs);
    await once(child, "exit");
    clearTimeout(timer);
  }
}

/** The error to report when the process ended unexpectedly or could not start. */
export function describeLoss(thrown: unknown, stderr: string): CapstanError {
  const message = thrown instanceof Error ? thrown.message : "the process ended";
  if (/native (CLI )?binary .*not found|executable not found/i.test(message))
    return new CapstanError(
      "engine_missing",
      "The Claude Code binary of the Agent SDK is not installed. Reinstall without `--omit=optional`.",
      { cause: thrown },
    );
  const detail = stderr === "" ? "" : ` Last output: ${stderr.split("\n").at(-1) ?? ""}`;
  return new CapstanError(
    "engine_lost",
    `The agent process ended unexpectedly (${message}).${detail} The log is intact; send a message to continue.`,
    { cause: thrown, retryable: true, data: { stderr } },
  );
}
