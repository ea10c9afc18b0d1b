import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { Readable } from "node:stream";
import { messageOf } from "../../../core/errors.ts";
import { familyReader } from "../../../process/limits.ts";
import { INIT, READY, REPORT_END, REPORT_FD, STATE_FD } from "./command-script.ts";
import { untilMark } from "./until-mark.ts";

/** Bytes. A longer state is ignored. */
const MAX_STATE = 256 * 1024;

export interface CommandStart {
  /** The programs that contain the command; empty if the machine has none. */
  readonly wrapper: readonly string[];
  readonly bash: string;
  readonly cat: string;
  /** The command's shell with its arguments, preceded by the sandbox. */
  readonly words: readonly string[];
  readonly onOutput: (stream: "stdout" | "stderr", chunk: Buffer) => Promise<void>;
}

/** How a command exited. */
export interface CommandExit {
  readonly status: number;
  /** The state that its shell saved; undefined if it saved none. */
  readonly state: Buffer | undefined;
}

/** One command, with everything it starts. */
export class CommandProcess {
  readonly #child: ChildProcess;
  readonly #isContained: boolean;
  /** Resolves with its exit, or with undefined if it was killed; rejects if it could not start. */
  readonly ended: Promise<CommandExit | undefined>;
  /** Resolves when all its processes have ended. */
  readonly gone: Promise<void>;
  #seconds = 0;

  constructor({ wrapper, bash, cat, words, onOutput }: CommandStart) {
    const mark = `capstan-end-${randomUUID()}`;
    const init = [bash, "--noprofile", "--norc", "-c", INIT, "bash", cat, ...words];
    const [program = "", ...args] = [...wrapper, ...init];
    this.#isContained = wrapper.length > 0;
    // The programs that start the command's shell must get no variables of the host or the session.
    const child = spawn(program, args, {
      cwd: "/",
      env: {},
      stdio: ["pipe", "pipe", "pipe", "ignore", "pipe", "pipe"],
      detached: true,
    });
    this.#child = child;
    const started = new Promise<void>((resolve, reject) => {
      child.once("spawn", resolve);
      child.once("error", (thrown) => reject(new Error(`The shell could not start: ${messageOf(thrown)}`)));
    });
    this.gone = new Promise((resolve) => {
      child.once("exit", () => resolve());
      child.once("error", () => resolve());
    });
    child.stdin?.on("error", () => {});
    // Without a free descriptor there are no streams, despite their types; the error follows.
    const { stdio }: Partial<ChildProcess> = child;
    const read = async (fd: number, take: (chunk: Buffer) => Promise<void>, end = mark): Promise<void> => {
      const stream = stdio?.[fd];
      if (stream) await untilMark(stream as Readable, end, take);
    };
    const state = byteCollector(MAX_STATE);
    const report = byteCollector(1_000);
    let isReady = false;
    const takeReport = async (chunk: Buffer): Promise<void> => {
      await report.take(chunk);
      if (isReady || !report.bytes().includes(READY)) return;
      isReady = true;
      this.#say("go");
    };
    const outputs = Promise.all([
      read(1, (chunk) => onOutput("stdout", chunk)),
      read(2, (chunk) => onOutput("stderr", chunk)),
      read(STATE_FD, state.take),
      read(REPORT_FD, takeReport, REPORT_END).then(() => this.#say(mark)),
    ]);
    // Nothing awaits the output of a command that could not start.
    outputs.catch(() => {});
    this.ended = started.then(async () => {
      await outputs;
      return this.#exit(report.bytes().toString("utf8"), state.bytes());
    });
    // The caller handles the rejection.
    this.ended.catch(() => this.kill());
  }

  get pid(): number | undefined {
    return this.#child.exitCode === null && this.#child.signalCode === null ? this.#child.pid : undefined;
  }

  /** Processor time in seconds: as reported, or as last measured before a kill. */
  get seconds(): number {
    return this.#seconds;
  }

  kill(): void {
    // A process that the signal misses reads the end of its input and starts nothing.
    this.#child.stdin?.destroy();
    const { pid } = this;
    if (pid === undefined) return;
    this.#seconds = Math.max(this.#seconds, secondsOf(pid));
    try {
      // Its namespace ends with it. Without one, only its process group can be killed.
      process.kill(this.#isContained ? pid : -pid, "SIGKILL");
    } catch {
      // It has just ended.
    }
  }

  #say(line: string): void {
    if (this.#child.stdin?.writable === true) this.#child.stdin.write(`${line}\n`);
  }

  #exit(report: string, state: Buffer): CommandExit | undefined {
    const [, status = "", ...times] = report.split("\n");
    if (!/^\d+$/.test(status)) return undefined;
    for (const [, minutes, seconds] of times.join(" ").matchAll(/(\d+)m([\d.]+)s/g))
      this.#seconds += Number(minutes) * 60 + Number(seconds);
    return { status: Number(status), state: state.length > 0 && state.length < MAX_STATE ? state : undefined };
  }
}

/** Collects up to `limit` bytes, and drops the rest. */
function byteCollector(limit: number): { take: (chunk: Buffer) => Promise<void>; bytes: () => Buffer } {
  const chunks: Buffer[] = [];
  let left = limit;
  return {
    take: async (chunk) => {
      if (left > 0) chunks.push(chunk.subarray(0, left));
      left -= chunk.length;
    },
    bytes: () => Buffer.concat(chunks),
  };
}

function secondsOf(pid: number): number {
  try {
    return familyReader()(pid).cpu_seconds;
  } catch {
    return 0;
  }
}
