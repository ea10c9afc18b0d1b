import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { type Cli, testCli } from "../test/support/cli.ts";
import { say, scriptedModel } from "../test/support/scripted-model.ts";
import type { BenchCase, Row } from "./row.ts";
import { median } from "./statistics.ts";

const WORDS = 2_000;
/** Milliseconds between two words. */
const PACE_MS = 2;
const BETWEEN_KEYS_MS = 70;
/** One frame. An absolute limit, because people notice the same delay on every machine. */
const LIMIT_MS = 50;
/** A program that only echoes: its delay is the machine's, not the chat's. */
const ECHO = `let all = "";
process.stdin.setRawMode(true).setEncoding("utf8").on("data", (key) => {
  if (key.includes("\u0003")) process.exit();
  all = key === "\u0015" ? "" : all + key;
  process.stdout.write("\\r> " + all);
});
process.stdout.write("ready");`;

/** The time from a key press to its echo on a terminal while the model streams. */
export const chatKeys: BenchCase = {
  name: "chat",
  async run() {
    const text = Array.from({ length: WORDS }, (_, index) => `${index % 40 === 39 ? "\n\n" : ""}**word** of \`text\``);
    await using model = await scriptedModel(() => say(text.join(" "), { pace: PACE_MS }));
    using cli = testCli(model.url);
    await using screen = terminal(cli, [resolve("src/cli/main.ts"), "chat"]);
    await using bare = terminal(cli, ["-e", ECHO]);
    await Promise.all([screen.sees("normal"), bare.sees("ready")]);
    screen.type("go\r");
    await screen.sees("word of");
    const waits: number[] = [];
    const against: number[] = [];
    // Digits, which the model never writes.
    for (let typed = ""; waits.length === 0 || screen.isTalking();) {
      typed += String(waits.length % 10);
      const [wait, other] = await Promise.all([screen.echo(typed), bare.echo(typed)]);
      waits.push(wait);
      against.push(other);
      await sleep(BETWEEN_KEYS_MS);
      // A longer line would wrap.
      if (typed.length < 60) continue;
      for (const one of [screen, bare]) one.type("\u0015");
      typed = "";
      await sleep(BETWEEN_KEYS_MS);
    }
    return [row(waits, against)];
  },
};

/** Compares the longest waits. On an idle machine, that of the bare echo is close to zero. */
function row(waits: readonly number[], against: readonly number[]): Row {
  const [longest, other] = [Math.max(...waits), Math.max(...against)];
  return {
    name: "chat",
    what: `longest wait of a key for its echo while ${WORDS.toLocaleString("en")} words stream : of a bare echo`,
    samples: waits.length,
    medians: [`${median(waits).toFixed(1)} ms`, `${median(against).toFixed(1)} ms`],
    result: `${longest.toFixed(1)} ms : ${other.toFixed(1)} ms`,
    limit: `<= ${LIMIT_MS} ms more`,
    verdict: longest - other <= LIMIT_MS ? "ok" : "MISSED",
  };
}

interface Typing extends AsyncDisposable {
  sees(text: string): Promise<void>;
  type(keys: string): void;
  /** Types the last letter of `typed` and waits until all of it is on the screen. Returns milliseconds. */
  echo(typed: string): Promise<number>;
  /** Whether the model wrote anything a moment ago. */
  isTalking(): boolean;
}

/** A Node program on a pseudo-terminal. */
function terminal({ cwd, environment }: Pick<Cli, "cwd" | "environment">, args: readonly string[]): Typing {
  const command = `stty cols 80 rows 40; exec ${[process.execPath, ...args].map((word) => `'${word}'`).join(" ")}`;
  const child: ChildProcessWithoutNullStreams = spawn("script", ["-qefc", command, "/dev/null"], {
    cwd,
    env: { ...environment, TERM: "xterm-256color" },
    stdio: "pipe",
  });
  let written = "";
  let lastWordAt = 0;
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    written += stripVTControlCharacters(chunk);
    if (chunk.includes("word")) lastWordAt = performance.now();
  });
  const sees = async (text: string): Promise<void> => {
    while (!written.includes(text)) await once(child.stdout, "data");
    written = written.slice(written.lastIndexOf(text));
  };
  const type = (keys: string): void => void child.stdin.write(keys);
  return {
    sees,
    type,
    async echo(typed) {
      written = "";
      const at = performance.now();
      type(typed.slice(-1));
      await sees(`> ${typed}`);
      return performance.now() - at;
    },
    isTalking: () => performance.now() - lastWordAt < 500,
    async [Symbol.asyncDispose]() {
      type("\u0003\u0003\u0003");
      if (child.exitCode === null) await once(child, "exit");
    },
  };
}
