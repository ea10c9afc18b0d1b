import { spawn } from "node:child_process";
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";
import { expect } from "vitest";
import { type Cli, PROGRAM } from "../support/cli.ts";

/** The CLI on a pseudo-terminal of 80 columns, with somebody at its keyboard. */
export interface Terminal extends AsyncDisposable {
  /** All that was written so far. */
  readonly raw: string;
  /** The same without colours and movements. */
  readonly text: string;
  /** Waits until the text is there, after all that was waited for before. */
  sees(text: string): Promise<void>;
  type(keys: string): void;
  /** Takes the terminal away, as a dropped connection does. */
  drop(): Promise<unknown>;
  /** Until the program has ended; its exit code. */
  end(): Promise<number | null>;
}

export const DOWN = "\u001B[B";
export const UP = "\u001B[A";
export const ENTER = "\r";
export const ESCAPE = "\u001B";
export const CTRL_C = "\u0003";

export function terminal(cli: Cli, args: readonly string[], environment: Record<string, string> = {}): Terminal {
  const command = [process.execPath, PROGRAM, ...args].map(quoteWord).join(" ");
  const child = spawn("script", ["-qefc", `stty cols 80 rows 40; exec ${command}`, "/dev/null"], {
    cwd: cli.cwd,
    env: { ...cli.environment, TERM: "xterm-256color", ...environment },
    stdio: "pipe",
  });
  let raw = "";
  let seen = 0;
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (raw += chunk));
  const text = (): string => stripVTControlCharacters(raw);
  const exited = once(child, "exit");
  return {
    get raw() {
      return raw;
    },
    get text() {
      return text();
    },
    async sees(expected) {
      await expect.poll(() => text().slice(seen), { timeout: 20_000 }).toContain(expected);
      seen = text().indexOf(expected, seen) + expected.length;
    },
    type: (keys) => void child.stdin.write(keys),
    drop() {
      child.kill("SIGKILL");
      return exited;
    },
    async end() {
      const [code] = (await exited) as [number | null];
      return code;
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      if (child.exitCode === null) child.kill("SIGKILL");
      await exited;
    },
  };
}

function quoteWord(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
