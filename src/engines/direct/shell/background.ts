import type { FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { openOwnFile } from "../../../process/own-files.ts";
import type { CommandEnd, CommandRequest, Shell } from "./shell.ts";

/** A background command. Its output is in a file, in the order it was printed. */
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
  readonly threadId: string | undefined;
  isRunning: boolean;
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** How many may run at once in one session. */
const MAX_RUNNING = 20;

export class BackgroundCommands {
  readonly #shell: Shell;
  readonly #all = new Map<string, Running>();
  #begun = 0;
  #running = 0;

  constructor(shell: Shell) {
    this.#shell = shell;
  }

  list(): BackgroundCommand[] {
    return [...this.#all.values()].map(({ id, command, file, isRunning }) => ({ id, command, file, isRunning }));
  }

  /**
   * The commands that a thread may stop: its own, and for the primary thread also those of its subagents, which may
   * have ended.
   */
  idsOf(threadId: string | undefined): string[] {
    return [...this.#all.values()].filter((one) => isFor(one, threadId)).map(({ id }) => id);
  }

  /** Resolves when the command has started. Rejects if too many are running, or its file cannot be created. */
  async start(request: Pick<CommandRequest, "command" | "threadId" | "directory">): Promise<BackgroundCommand> {
    if (this.#running >= MAX_RUNNING)
      throw new Error(`${MAX_RUNNING} background commands are running. Stop one with TaskStop first.`);
    this.#running += 1;
    const id = `bash_${(this.#begun += 1)}`;
    const file = join(this.#shell.outputs, `${id}.txt`);
    const output = await openOwnFile(file).catch((thrown: unknown) => {
      this.#running -= 1;
      throw thrown;
    });
    const stop = new AbortController();
    const started: Running = {
      id,
      command: request.command,
      file,
      threadId: request.threadId,
      isRunning: true,
      stop,
      ended: this.#run(request, { output, signal: stop.signal }).finally(() => {
        started.isRunning = false;
        this.#running -= 1;
      }),
    };
    this.#all.set(id, started);
    return started;
  }

  /** Undefined if the thread has no such command; otherwise whether it was still running. */
  async stop(id: string, threadId: string | undefined): Promise<boolean | undefined> {
    const found = this.#all.get(id);
    if (found === undefined || !isFor(found, threadId)) return undefined;
    const wasRunning = found.isRunning;
    found.stop.abort();
    await found.ended;
    return wasRunning;
  }

  async #run(
    request: Pick<CommandRequest, "command" | "threadId" | "directory">,
    { output, signal }: { readonly output: FileHandle; readonly signal: AbortSignal },
  ): Promise<void> {
    try {
      const end = await this.#shell.run({
        ...request,
        keepsState: false,
        timeoutMs: undefined,
        signal,
        onOutput: (_stream, chunk) => output.appendFile(chunk),
      });
      await output.appendFile(`\n[${describeEnd(end)}]\n`);
    } catch {
      // The disk is full, or the session was closed and its files removed. The file then has no end line.
    } finally {
      await output.close().catch(() => {});
    }
  }
}

function isFor({ threadId: owner }: Running, threadId: string | undefined): boolean {
  return threadId === undefined || owner === threadId;
}

function describeEnd(end: CommandEnd): string {
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
