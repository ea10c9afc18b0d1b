import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import type { CommandEnd, CommandRequest, Shell } from "./shell.ts";

/** A command that runs beside the conversation. Its output is in a file, in the order it came. */
export interface BackgroundCommand {
  readonly id: string;
  readonly command: string;
  readonly file: string;
  readonly isRunning: boolean;
}

interface Running {
  readonly id: string;
  readonly command: string;
  readonly file: string;
  isRunning: boolean;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** So many may run at once in one session. */
const MAX_RUNNING = 20;

export class BackgroundCommands {
  readonly #shell: Shell;
  readonly #all = new Map<string, Running>();

  constructor(shell: Shell) {
    this.#shell = shell;
  }

  list(): BackgroundCommand[] {
    return [...this.#all.values()].map(({ id, command, file, isRunning }) => ({ id, command, file, isRunning }));
  }

  /** Resolves when it has been started. Rejects when there are too many, or its file cannot be made. */
  async start(request: Pick<CommandRequest, "command" | "threadId" | "directory">): Promise<BackgroundCommand> {
    if (this.list().filter(({ isRunning }) => isRunning).length >= MAX_RUNNING)
      throw new Error(`${MAX_RUNNING} background commands are running. Stop one with TaskStop first.`);
    const id = `bash_${this.#all.size + 1}`;
    const file = join(this.#shell.outputs, `${id}.txt`);
    const stop = new AbortController();
    const started: Running = {
      id,
      command: request.command,
      file,
      isRunning: true,
      stop,
      ended: this.#run(request, { file, signal: stop.signal }).finally(() => {
        started.isRunning = false;
      }),
    };
    this.#all.set(id, started);
    return started;
  }

  /** Undefined when there is no such command; otherwise whether it was still running. */
  async stop(id: string): Promise<boolean | undefined> {
    const found = this.#all.get(id);
    if (found === undefined) return undefined;
    const wasRunning = found.isRunning;
    found.stop.abort();
    await found.ended;
    return wasRunning;
  }

  async #run(
    request: Pick<CommandRequest, "command" | "threadId" | "directory">,
    { file, signal }: { readonly file: string; readonly signal: AbortSignal },
  ): Promise<void> {
    let handle: FileHandle | undefined;
    try {
      handle = await open(file, "ax", 0o600);
      const output = handle;
      const end = await this.#shell.run({
        ...request,
        keepsState: false,
        timeoutMs: undefined,
        signal,
        onOutput: (_stream, chunk) => output.appendFile(chunk),
      });
      await output.appendFile(`\n[${described(end)}]\n`);
    } catch {
      // The disk is full, or the session is closed and its files are gone. Whoever reads the file finds no end.
    } finally {
      await handle?.close().catch(() => {});
    }
  }
}

function described(end: CommandEnd): string {
  switch (end.kind) {
    case "exited":
      return `Exit code ${end.status}`;
    case "failed":
      return end.reason;
    case "flood":
      return "Ended because it printed too much";
    default:
      return "Stopped";
  }
}
