import { type ChildProcess, spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { HookCommandEnd, CommandSurroundings, RunHookCommand } from "../../core/ports/hooks.ts";
import { findContainment } from "../../process/containment.ts";
import { BriefCovers } from "../../sandbox/brief-covers.ts";
import { confinedCommand, coverOf } from "../../sandbox/confined-command.ts";
import { confinementOf, isConfined, sandboxFinder } from "../../sandbox/support.ts";

/** In characters. An answer is a small piece of JSON; a command that prints endlessly must not fill the memory. */
const MAX_STDOUT = 10_000_000;
const STDERR_TAIL = 8_192;

interface CommandSettings {
  /** The commands' search path. */
  readonly path: string;
  /** A program that contains a command and everything it starts; empty for none. Default: what this machine has. */
  readonly wrapper?: readonly string[];
  /** Whether commands run outside the sandbox of their session. Default: inside. */
  readonly isOutside?: boolean;
  /** What the commands are for. Default: hooks. */
  readonly of?: keyof typeof NOT_CONFINED;
}

/**
 * Runs commands of hooks and graders with a minimal environment that contains no variables of a session. If the session
 * has a sandbox, they run in an equivalent one, because they may start what the agent wrote.
 */
export function hookCommands({
  path,
  wrapper: given,
  isOutside = false,
  of = "hooks",
}: CommandSettings): RunHookCommand {
  let wrapper = given;
  const support = sandboxFinder(path);
  const covers = new BriefCovers();
  return async (command, surroundings) => {
    // Searched when the first command runs: most hosts never need it.
    wrapper ??= (await findContainment()) ?? [];
    const { stateDir, sandbox } = surroundings;
    const words = typeof command === "string" ? ["/bin/sh", "-c", command] : command;
    if (isOutside || !isConfined(sandbox, support)) return run(words, { ...surroundings, path, wrapper });
    const home = join(stateDir, "home");
    const plan = {
      ...sandbox,
      allowRead: [...sandbox.allowRead, home],
      allowWrite: [...sandbox.allowWrite, home],
    };
    const confinement = confinementOf({ sandbox: plan }, support);
    if (confinement === undefined) throw new Error(NOT_CONFINED[of]);
    using _covered = covers.use(stateDir, () => coverOf(plan));
    const confine = (ownDirectory: string): readonly string[] =>
      confinedCommand(plan, { confine: confinement.confine, ownDirectory });
    return await run(words, { ...surroundings, path, wrapper, confine });
  };
}

const NOT_CONFINED = {
  hooks:
    "Hooks can run in the sandbox only on Linux. To run them outside, set hooks_outside_sandbox: true in your own settings.",
  graders:
    "Command graders can run in the sandbox only on Linux. To run them outside, set graders_outside_sandbox: true in your own settings.",
} as const;

interface RunOptions extends CommandSurroundings {
  readonly path: string;
  readonly wrapper: readonly string[];
  /** The command that starts a program in its sandbox; `ownDirectory` is writable there. */
  readonly confine?: (ownDirectory: string) => readonly string[];
}

async function run(
  words: readonly string[],
  { stdin, cwd, stateDir, signal, path, wrapper, confine }: RunOptions,
): Promise<HookCommandEnd> {
  const directory = async (name: string): Promise<string> => {
    const made = join(stateDir, name);
    await mkdir(made, { recursive: true, mode: 0o700 });
    return made;
  };
  const HOME = await directory("home");
  const TMPDIR = await directory("tmp");
  const env = { PATH: path, LANG: "C.UTF-8", HOME, TMPDIR };
  signal.throwIfAborted();
  // A separate process group, for machines without containment.
  const [program = "", ...args] = [...wrapper, ...(confine?.(TMPDIR) ?? []), ...words];
  const child = spawn(program, args, { cwd, env, stdio: ["pipe", "pipe", "pipe"], detached: true });
  const kill = (): void => killGroup(child);
  signal.addEventListener("abort", kill, { once: true });
  // End what the command left behind, which would otherwise keep the pipes open. A wrapper does that itself.
  if (wrapper.length === 0) child.on("exit", kill);
  try {
    return await endOf(child, { stdin, kill });
  } finally {
    signal.removeEventListener("abort", kill);
  }
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    // The process has already ended.
  }
}

function endOf(child: ChildProcess, { stdin, kill }: { stdin: string; kill: () => void }): Promise<HookCommandEnd> {
  return new Promise((resolve, reject) => {
    let stdout = "";
    let stderr = "";
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      if (stdout.length <= MAX_STDOUT) return;
      kill();
      reject(new Error(`The command printed more than ${MAX_STDOUT} characters.`));
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      stderr = (stderr + text).slice(-STDERR_TAIL);
    });
    child.on("error", reject);
    child.on("close", (exitCode) => resolve({ exitCode, stdout, stderr }));
    // A command need not read its input.
    child.stdin?.on("error", () => {});
    child.stdin?.end(stdin);
  });
}
