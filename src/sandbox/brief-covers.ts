import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { readOwnFile, removeOwn, writeOwnFile } from "../process/own-files.ts";
import { removeStubs } from "./stubs.ts";

/**
 * The places that short commands in sandboxes of their own keep although nothing is there, so that no command can make
 * something there. They are removed when no such command of the session runs any more; they are written down before use, for
 * whoever comes after a kill.
 */
export class BriefCovers {
  readonly #running = new Map<string, number>();
  readonly #looked = new Set<string>();

  /** `covers` is asked once what was left before is gone. To be disposed of when the command has ended. */
  use(stateDir: string, covers: () => readonly string[]): Disposable {
    const list = join(stateDir, "hook-covers.json");
    if (!this.#looked.has(stateDir)) sweep(list);
    this.#looked.add(stateDir);
    const running = this.#running.get(stateDir) ?? 0;
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    writeOwnFile(list, JSON.stringify([...new Set([...read(list), ...covers()])]));
    this.#running.set(stateDir, running + 1);
    return {
      [Symbol.dispose]: () => {
        const left = (this.#running.get(stateDir) ?? 1) - 1;
        this.#running.set(stateDir, left);
        if (left === 0) sweep(list);
      },
    };
  }
}

/** What is a mount for another process stays on the list. */
function sweep(list: string): void {
  if (removeStubs(read(list)) === 0) removeOwn(list);
}

function read(list: string): readonly string[] {
  try {
    return JSON.parse(readOwnFile(list) ?? "[]") as string[];
  } catch {
    return [];
  }
}
