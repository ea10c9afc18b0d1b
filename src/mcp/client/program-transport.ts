import { type ChildProcessByStdio, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ErrorCode, type JSONRPCMessage, JSONRPCMessageSchema, McpError } from "@modelcontextprotocol/sdk/types.js";

export interface ProgramStart {
  /** An absolute path, with its arguments. */
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
}

/** For one message. A server that writes more without a line break does not speak MCP. */
const MAX_MESSAGE_BYTES = 64 * 1024 * 1024;
/** How many messages are read per second; a program that writes more has to wait. */
const MOST_PER_SECOND = 1_000;
/** Milliseconds that a program may take to end after its input is closed. */
const GOODBYE_MS = 1_000;

/**
 * A program that speaks MCP on stdin and stdout. Lines that are not part of the protocol are ignored, as other clients
 * do; ending the program ends everything it started.
 */
export class ProgramTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport["onmessage"]>;
  readonly #start: ProgramStart;
  #child: ChildProcessByStdio<Writable, Readable, null> | undefined;
  #exited: Promise<void> = Promise.resolve();
  #pieces: Buffer[] = [];
  #length = 0;
  /** Messages in the second that started at `from`, in milliseconds. */
  #second = { from: 0, messages: 0 };
  #trouble: string | undefined;
  #isKilled = false;

  constructor(start: ProgramStart) {
    this.#start = start;
  }

  /** Why it ended, if known. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** The program's root process, while it runs. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  async start(): Promise<void> {
    if (this.#isKilled) throw new McpError(ErrorCode.ConnectionClosed, "its session has ended");
    const { command, args, cwd } = this.#start;
    // The starter sets the program's variables, and needs none of the host's.
    const child = spawn(command, args, { cwd, env: {}, stdio: ["pipe", "pipe", "ignore"], detached: true });
    this.#child = child;
    this.#exited = new Promise((resolve) => {
      child.once("error", (error) => {
        this.#trouble ??= error.message;
        resolve();
      });
      child.once("exit", (code, signal) => {
        this.#trouble ??=
          signal === null ? `its program exited with code ${code}` : `its program was killed by ${signal}`;
        resolve();
      });
    });
    void this.#report();
    // The end of the program reports it as well.
    child.stdin.on("error", () => {});
    child.stdout.on("data", (chunk: Buffer) => this.#take(chunk));
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const child = this.#child;
    if (child === undefined) throw new McpError(ErrorCode.ConnectionClosed, "its program is not running");
    if (child.stdin.write(`${JSON.stringify(message)}\n`)) return;
    await Promise.race([new Promise((resolve) => child.stdin.once("drain", resolve)), this.#exited]);
  }

  async close(): Promise<void> {
    this.#child?.stdin.end();
    await Promise.race([this.#exited, sleep(GOODBYE_MS, undefined, { ref: false })]);
    this.kill();
    await this.#exited;
  }

  /** Kills it at once, with everything it started. It is not restarted. */
  kill(): void {
    this.#isKilled = true;
    this.#kill();
  }

  async #report(): Promise<void> {
    await this.#exited;
    this.#child = undefined;
    this.onclose?.();
  }

  #kill(): void {
    const pid = this.#child?.pid;
    if (pid === undefined) return;
    try {
      // Its whole group: without its own namespace it may have started others.
      process.kill(-pid, "SIGKILL");
    } catch {
      // Already ended.
    }
  }

  #take(chunk: Buffer): void {
    let rest = chunk;
    for (let end = rest.indexOf(0x0a); end >= 0; end = rest.indexOf(0x0a)) {
      this.#keep(rest.subarray(0, end));
      this.#deliver(Buffer.concat(this.#pieces).toString("utf8"));
      this.#pieces = [];
      this.#length = 0;
      this.#second.messages += 1;
      rest = rest.subarray(end + 1);
    }
    this.#keep(rest);
    this.#slowDown();
  }

  #slowDown(): void {
    const passed = performance.now() - this.#second.from;
    if (passed >= 1_000) this.#second = { from: performance.now(), messages: 0 };
    if (this.#second.messages < MOST_PER_SECOND) return;
    this.#child?.stdout.pause();
    setTimeout(() => this.#child?.stdout.resume(), 1_000 - passed).unref();
  }

  #keep(piece: Buffer): void {
    this.#length += piece.length;
    if (this.#length <= MAX_MESSAGE_BYTES) return void this.#pieces.push(piece);
    this.#pieces = [];
    this.#trouble ??= `it wrote a line of more than ${MAX_MESSAGE_BYTES / 1024 / 1024} MB`;
    this.#kill();
  }

  #deliver(line: string): void {
    let read: unknown;
    try {
      read = JSON.parse(line);
    } catch {
      return;
    }
    const message = JSONRPCMessageSchema.safeParse(read);
    if (message.success) this.onmessage?.(message.data);
  }
}
