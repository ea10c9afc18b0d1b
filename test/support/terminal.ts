import { execFileSync, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { temporaryDirectory } from "./host.ts";

/** The CLI in a terminal of tmux, which knows what the screen looks like after all movements. */
export interface TerminalScreen extends Disposable {
  /** As it is now, without colours. */
  text(): string;
  /** With what was scrolled out of sight. */
  everything(): string;
  /** With the escape codes of its colours. */
  readPainted(): string;
  /** Waits until the text is on the screen, however its lines are broken between words. */
  sees(text: string): Promise<void>;
  type(text: string): void;
  /** Keys by the names that tmux has for them, such as `Enter`, `Escape` or `C-c`. */
  press(...keys: readonly string[]): void;
  /** As one paste, the way a terminal marks it. */
  paste(text: string): void;
  resize(width: number, height: number): void;
  /** Takes the terminal away. */
  close(): void;
  /** Of the program. */
  pid(): number;
}

export interface TerminalOptions {
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly width?: number;
  readonly height?: number;
}

const PATIENCE_MS = 20_000;

export function terminalScreen(
  args: readonly string[],
  { cwd, environment, width = 80, height = 40 }: TerminalOptions,
): TerminalScreen {
  const place = temporaryDirectory();
  const env = { LANG: "C.UTF-8", TERM: "xterm-256color", ...environment };
  const tmux = (...words: readonly string[]): string =>
    execFileSync("tmux", ["-S", join(place.path, "socket"), "-f", "/dev/null", ...words], {
      cwd,
      env,
      encoding: "utf8",
    });
  const command = [process.execPath, resolve("src/cli/main.ts"), ...args].map(quoteWord).join(" ");
  // The shell stays, so that the last screen can be read, and tells what became of the terminal.
  const after = String.raw`echo "exit code $?"; stty -a | grep -o '[-]\?icanon'; exec sleep 600`;
  tmux("new-session", "-d", "-x", String(width), "-y", String(height), `${command}; ${after}`);
  const text = (): string => tmux("capture-pane", "-p");
  return {
    text,
    everything: () => tmux("capture-pane", "-p", "-S", "-"),
    readPainted: () => tmux("capture-pane", "-p", "-e"),
    async sees(expected) {
      const until = Date.now() + PATIENCE_MS;
      while (!flat(text()).includes(flat(expected))) {
        if (Date.now() > until) throw new Error(`"${expected}" is not on the screen:\n${text()}`);
        await sleep(50);
      }
    },
    type: (typed) => void tmux("send-keys", "-l", typed),
    press: (...keys) => void tmux("send-keys", ...keys),
    paste(pasted) {
      tmux("set-buffer", pasted);
      tmux("paste-buffer", "-p", "-r");
    },
    resize: (columns, rows) => void tmux("resize-window", "-x", String(columns), "-y", String(rows)),
    close: () => void tmux("kill-pane"),
    pid() {
      const shell = tmux("display-message", "-p", "#{pane_pid}").trim();
      return Number(readFileSync(`/proc/${shell}/task/${shell}/children`, "utf8").trim().split(" ")[0]);
    },
    [Symbol.dispose]() {
      spawnSync("tmux", ["-S", join(place.path, "socket"), "kill-server"], { env });
      place[Symbol.dispose]();
    },
  };
}

function flat(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

function quoteWord(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}
