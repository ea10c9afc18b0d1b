import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readOwnFile, removeOwn, writeOwnFile } from "./own-files.ts";

/**
 * Directories of one process outside the session's own: its temporary files, and the SDK's copy of the transcript. They
 * are recorded before use, so that the next process removes what a killed one left.
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

  /** A short path: the CLI creates sockets there, whose paths are limited to about a hundred characters. */
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
    // Files that can't be removed, such as read-only ones of a command, stay on the list and do no harm.
    this.#directories = this.#directories.filter((directory) => !tryRemove(directory));
    if (this.#directories.length === 0) removeOwn(this.#list);
    else writeOwnFile(this.#list, JSON.stringify(this.#directories));
  }
}

function tryRemove(directory: string): boolean {
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
    // It does not exist, or was cut off by a crash while it was written.
    return [];
  }
}
