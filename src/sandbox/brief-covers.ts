import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { readOwnFile, removeOwn, writeOwnFile } from "../process/own-files.ts";
import { removeStubs } from "./stubs.ts";

/**
 * Missing paths that short commands in their own sandboxes reserve, so that no command can create them. They are
 * removed when no such command of the session runs any more; they are recorded before use, for cleanup after a kill.
 */
export class BriefCovers {
  readonly #running = new Map<string, number>();
  readonly #looked = new Set<string>();

  /** `covers` is called once earlier leftovers are removed. Dispose of the result when the command has ended. */
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

/** Paths that are mounts of another process stay on the list. */
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
