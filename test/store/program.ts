import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { FASTER } from "../support/cli.ts";
import type { WriterTask } from "./writer.ts";

export interface Program extends AsyncDisposable {
  go(): void;
  /** The next line it prints. */
  line(): Promise<string>;
  /** Waits for the end of the process, which must succeed. */
  finish(): Promise<void>;
  /** Kills the process after so many lines; gives the last one it printed. */
  killAfter(count: number): Promise<string>;
}

/** A process of its own, which prints `ready` and waits for `go`. */
export async function start(program: URL, args: readonly string[]): Promise<Program> {
  const child = spawn(process.execPath, [fileURLToPath(program), ...args], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { PATH: process.env["PATH"], ...FASTER },
  });
  const ended = once(child, "close");
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe("ready");
  return {
    go: () => child.stdin.end("go\n"),

    async line() {
      const next = await lines.next();
      if (next.done === true) throw new Error("the program ended without another line");
      return next.value;
    },

    async finish() {
      expect((await ended)[0]).toBe(0);
    },

    async killAfter(count) {
      let last = "";
      let seen = 0;
      for (let line = await lines.next(); line.done !== true; line = await lines.next()) {
        last = line.value;
        seen += 1;
        if (seen === count) child.kill("SIGKILL");
      }
      return last;
    },

    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

export function startWriter(task: WriterTask): Promise<Program> {
  return start(new URL("./writer.ts", import.meta.url), [JSON.stringify(task)]);
}
