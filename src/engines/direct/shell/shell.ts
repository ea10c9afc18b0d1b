import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../../../core/errors.ts";
import { onAbort } from "../../../core/text/on-abort.ts";
import { familyReader, type ProcessUse } from "../../../process/limits.ts";
import { removeOwn, writeOwnFile } from "../../../process/own-files.ts";
import { confinedCommand } from "../../../sandbox/confined-command.ts";
import { findSecrets } from "../../../sandbox/secrets.ts";
import { socketFilter } from "../../../sandbox/socket-filter.ts";
import type { Confinement } from "../../../sandbox/support.ts";
import { CommandProcess } from "./command-process.ts";
import { commandFile, runText } from "./command-script.ts";
import { leavesSandbox } from "./confine.ts";
import { realOf, ShellState } from "./shell-state.ts";
import {
  baseVariables,
  findPrograms,
  makeDirectories,
  type ShellPrograms,
  type ShellDirectories,
  type ShellContext,
} from "./surroundings.ts";

/** Bytes. A command that prints more is killed. */
export const MAX_PRINTED = 64 * 1024 * 1024;
const MAX_OUTPUT_FILES = 20;
/** Where bubblewrap reads the filter; it closes this descriptor before the command starts. */
const FILTER_FD = 9;
const WITH_FILTER = `exec ${FILTER_FD}<"$0" && exec "$@"`;

export interface CommandRequest {
  readonly command: string;
  readonly threadId: string | undefined;
  /** The directory that the call was decided for (default: the workspace). */
  readonly directory: string | undefined;
  /** Keep its directory for the next command. */
  readonly keepsState: boolean;
  /** Undefined: no limit. */
  readonly timeoutMs: number | undefined;
  readonly signal: AbortSignal;
  readonly onOutput: (stream: "stdout" | "stderr", chunk: Buffer) => Promise<void>;
}

export type CommandEnd =
  | { readonly kind: "exited"; readonly status: number; readonly notes: readonly string[] }
  | { readonly kind: "timeout" | "aborted" | "flood" | "killed" }
  /** The command did not run, or its output could not be read. */
  | { readonly kind: "failed"; readonly reason: string };

/**
 * The shell of a session: one bash per command, so that no command can break the next, with state that the host carries
 * over. Between commands no process remains, except those that a command left behind.
 */
export class Shell {
  readonly #place: ShellContext;
  readonly #directories: ShellDirectories;
  readonly #state: ShellState;
  /** Each with a promise for its cleanup. */
  readonly #running = new Map<CommandProcess, Promise<void>>();
  readonly #outputFiles: string[] = [];
  #programs: ShellPrograms | undefined;
  #isClosed = false;
  #confinedNow = 0;
  /** Processor time of finished commands. */
  #seconds = 0;

  constructor(place: ShellContext) {
    this.#place = place;
    this.#directories = makeDirectories(place);
    this.#state = new ShellState(place);
    // Throws for variables that no command can receive.
    baseVariables(place, { home: this.#directories.home, isOutside: true });
  }

  get outputs(): string {
    return this.#directories.outputs;
  }

  /** Where the next command of a thread starts, with links resolved; undefined for the workspace. */
  directoryOf(threadId: string | undefined): string | undefined {
    return this.#state.directoryOf(threadId);
  }

  pids(): number[] {
    return [...this.#running.keys()].flatMap(({ pid }) => pid ?? []);
  }

  /** Current resource use of the session's commands, with the processor time of finished ones. */
  use(): ProcessUse {
    const read = familyReader();
    const all = [...this.#running.keys()].map((one) => {
      const seen = one.pid === undefined ? NOTHING : read(one.pid);
      return { ...seen, cpu_seconds: Math.max(seen.cpu_seconds, one.seconds) };
    });
    return all.reduce(
      (sum, one) => ({
        memory_bytes: sum.memory_bytes + one.memory_bytes,
        processes: sum.processes + one.processes,
        cpu_seconds: sum.cpu_seconds + one.cpu_seconds,
      }),
      { ...NOTHING, cpu_seconds: this.#seconds },
    );
  }

  /** Never rejects. */
  async run(request: CommandRequest): Promise<CommandEnd> {
    try {
      return await this.#run(request);
    } catch (thrown) {
      return { kind: "failed", reason: messageOf(thrown) };
    }
  }

  async #run(request: CommandRequest): Promise<CommandEnd> {
    const { command, threadId, signal, timeoutMs } = request;
    const { confinement } = this.#place;
    const isOutside = confinement !== undefined && leavesSandbox(command, confinement.plan);
    const sandbox = isOutside ? undefined : confinement;
    const directory = request.directory ?? this.#state.workspace;
    if (realOf(directory) !== directory) return this.#leaveLostDirectory(directory, threadId);
    const given = baseVariables(this.#place, { home: this.#directories.home, isOutside });
    const file = join(isOutside ? this.#directories.hidden : this.#directories.shown, `${randomUUID()}.sh`);
    const words = await this.#words(file, sandbox);
    if (signal.aborted) return { kind: "aborted" };
    if (this.#isClosed) return { kind: "killed" };
    writeFileSync(file, commandFile({ variables: given, directory, command }), { mode: 0o600, flag: "wx" });
    let cause: "timeout" | "aborted" | "flood" | undefined;
    let printed = 0;
    const end = (why: typeof cause): void => {
      cause ??= why;
      started.kill();
    };
    const { bash, cat } = this.#findPrograms();
    const started = new CommandProcess({
      wrapper: this.#place.containment ?? [],
      bash,
      cat,
      words,
      onOutput: async (stream, chunk) => {
        printed += chunk.length;
        if (printed > MAX_PRINTED) end("flood");
        else await request.onOutput(stream, chunk);
      },
    });
    this.#add(started, { file, isConfined: sandbox !== undefined });
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => end("timeout"), timeoutMs);
    const forget = onAbort(signal, () => end("aborted"));
    try {
      const exit = await started.ended;
      if (cause !== undefined || exit === undefined) return { kind: cause ?? "killed" };
      const { status, state } = exit;
      if (isOutside || !request.keepsState) return { kind: "exited", status, notes: [] };
      const notes =
        state === undefined ? [NOT_SAVED] : this.#state.change(threadId, { given, directory, saved: state });
      return { kind: "exited", status, notes };
    } finally {
      clearTimeout(timer);
      forget();
    }
  }

  #leaveLostDirectory(directory: string, threadId: string | undefined): CommandEnd {
    this.#state.leaveDirectory(threadId);
    const reason = `The working directory ${directory} no longer exists. Commands start in ${this.#state.workspace} again.`;
    return { kind: "failed", reason };
  }

  async #words(file: string, sandbox: Confinement | undefined): Promise<string[]> {
    const { bash, env } = this.#findPrograms();
    const shell = [bash, "--noprofile", "--norc", "-c", runText({ file, env })];
    if (sandbox === undefined) return shell;
    const { shown, hidden, outputs } = this.#directories;
    const { confine } = sandbox;
    // A worktree's repository may be in a directory that is otherwise hidden.
    const allowRead = [...sandbox.plan.allowRead, ...sandbox.plan.gitDirectories, shown, outputs];
    const plan = { ...sandbox.plan, allowRead };
    const secrets = await findSecrets(plan);
    const filter = join(hidden, "sockets.bpf");
    // Rewritten for each command: a command outside the sandbox may have changed it.
    writeOwnFile(filter, socketFilter());
    const filtered = [...confine, "--seccomp", String(FILTER_FD)];
    const confined = confinedCommand(plan, { confine: filtered, ownDirectory: this.#place.tempDir, secrets });
    return [bash, "--noprofile", "--norc", "-c", WITH_FILTER, filter, ...confined, ...shell];
  }

  #findPrograms(): ShellPrograms {
    return (this.#programs ??= findPrograms(this.#place));
  }

  #add(started: CommandProcess, left: { readonly file: string; readonly isConfined: boolean }): void {
    if (left.isConfined) this.#confinedNow += 1;
    this.#running.set(started, this.#cleanUp(started, left));
  }

  /** Runs when all processes of a command have ended. */
  async #cleanUp(started: CommandProcess, { file, isConfined }: { file: string; isConfined: boolean }): Promise<void> {
    await Promise.allSettled([started.gone, started.ended]);
    this.#running.delete(started);
    this.#seconds += started.seconds;
    if (isConfined) this.#confinedNow -= 1;
    try {
      // A command may have replaced it with a directory.
      removeOwn(file);
      if (!isConfined) return;
      this.#place.stubs.markUsed();
      if (this.#confinedNow === 0) this.#place.stubs.sweep();
    } catch {
      // Nothing awaits this, and the session's next process removes what is left.
    }
  }

  /** The path for the whole output of a call. Only those of the most recent calls are kept. */
  outputFile(callId: string): string {
    const file = join(this.outputs, `${callId.replaceAll(/[^\w-]/g, "_")}.txt`);
    this.#outputFiles.push(file);
    for (const old of this.#outputFiles.splice(0, this.#outputFiles.length - MAX_OUTPUT_FILES)) removeOwn(old);
    return file;
  }

  /** Kills everything, and resolves when it has ended. */
  async close(): Promise<void> {
    this.kill();
    await Promise.all(this.#running.values());
    const { shown, hidden, outputs } = this.#directories;
    await Promise.all([shown, hidden, outputs].map((path) => rm(path, { recursive: true, force: true })));
  }

  kill(): void {
    this.#isClosed = true;
    for (const one of this.#running.keys()) one.kill();
  }
}

const NOTHING: ProcessUse = { memory_bytes: 0, processes: 0, cpu_seconds: 0 };
const NOT_SAVED = "The shell ended without saving its state. The working directory is unchanged.";
