import { createHash } from "node:crypto";
import { appendFileSync, chmodSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Earlier } from "./editor.ts";

/** Number of inputs to keep. */
const MAX_KEPT = 500;

/** Earlier inputs in chats of a project, newest last; saved in the user's home directory. */
export class History implements Earlier {
  readonly #path: string;
  readonly #texts: string[];

  constructor(home: string, project: string) {
    const name = createHash("sha256").update(project).digest("hex").slice(0, 16);
    this.#path = join(home, "chat-history", `${name}.jsonl`);
    this.#texts = readAll(this.#path);
  }

  at(index: number): string | undefined {
    return this.#texts.at(-1 - index);
  }

  /** Skips repeated inputs. Ignores write errors, which must not end the chat. */
  add(text: string): void {
    if (text.trim() === "" || text === this.#texts.at(-1)) return;
    this.#texts.push(text);
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      if (this.#texts.length > 2 * MAX_KEPT) this.#rewrite();
      else appendFileSync(this.#path, `${JSON.stringify(text)}\n`, { mode: 0o600 });
    } catch {}
  }

  #rewrite(): void {
    this.#texts.splice(0, this.#texts.length - MAX_KEPT);
    const next = `${this.#path}.${process.pid}`;
    writeFileSync(next, this.#texts.map((text) => `${JSON.stringify(text)}\n`).join(""), { mode: 0o600 });
    renameSync(next, this.#path);
  }
}

/** Skips unreadable lines, which an interrupted write leaves behind. */
function readAll(path: string): string[] {
  let lines: string[];
  try {
    lines = readFileSync(path, "utf8").split("\n");
    chmodSync(path, 0o600);
  } catch {
    return [];
  }
  return lines.flatMap((line) => {
    try {
      const text: unknown = JSON.parse(line);
      return typeof text === "string" ? [text] : [];
    } catch {
      return [];
    }
  });
}
