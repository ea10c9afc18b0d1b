import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOwnFile, removeOwn, writeOwnFile } from "./own-files.ts";

/**
 * Directories of one process that live outside the session's own: its temporary files, and the copy of the transcript
 * that the SDK makes. They are written down before use, so that the next process removes what a killed one left.
 */
export class Leftovers {
  readonly #list: string;
  #directories: string[] = [];

  constructor(stateDir: string) {
    mkdirSync(stateDir, { recursive: true, mode: 0o700 });
    this.#list = join(stateDir, "leftovers.json");
    this.#directories = read(this.#list);
    this.sweep();
  }

  /** A short path: the CLI puts sockets there, whose paths may not be longer than about a hundred characters. */
  temporaryDirectory(): string {
    const directory = mkdtempSync(join(tmpdir(), "capstan-"));
    this.note(directory);
    return directory;
  }

  note(directory: string): void {
    this.#directories.push(directory);
    writeOwnFile(this.#list, JSON.stringify(this.#directories));
  }

  sweep(): void {
    // What cannot be removed, such as files that a command made read-only, stays on the list and stops nobody.
    this.#directories = this.#directories.filter((directory) => !removed(directory));
    if (this.#directories.length === 0) removeOwn(this.#list);
    else writeOwnFile(this.#list, JSON.stringify(this.#directories));
  }
}

function removed(directory: string): boolean {
  try {
    rmSync(directory, { recursive: true, force: true, maxRetries: 3 });
    return true;
  } catch {
    return false;
  }
}

function read(list: string): string[] {
  try {
    return JSON.parse(readOwnFile(list) ?? "[]") as string[];
  } catch {
    // Not there, or cut off by a crash while it was written: nothing can be known of it.
    return [];
  }
}
