import { CapstanError } from "../../core/errors.ts";
import { whole } from "../../core/text/thousands.ts";

export interface CopyLimit {
  readonly max_bytes: number;
  readonly max_files: number;
  /** The path of the limits in the environment. */
  readonly field: string;
}

/** Counts what a mount takes against its own limits and those of the whole workspace. */
export class CopyTally {
  files = 0;
  bytes = 0;
  #directories = 0;
  readonly #name: string;
  readonly #limit: CopyLimit;
  readonly #whole: CopyTally | undefined;

  constructor(name: string, limit: CopyLimit, whole?: CopyTally) {
    this.#name = name;
    this.#limit = limit;
    this.#whole = whole;
  }

  addFile(bytes: number): void {
    this.files++;
    this.#check(this.files, "max_files", "files");
    this.#addBytes(bytes);
    this.#whole?.addFile(bytes);
  }

  /** A directory has no bytes, but a tree of only directories must be limited too. */
  addDirectory(): void {
    this.#directories++;
    this.#check(this.#directories, "max_files", "directories");
    this.#whole?.addDirectory();
  }

  /** Called when a file has grown since it was counted. */
  grow(bytes: number): void {
    this.#addBytes(bytes);
    this.#whole?.grow(bytes);
  }

  #addBytes(bytes: number): void {
    this.bytes += bytes;
    this.#check(this.bytes, "max_bytes", "bytes");
  }

  #check(found: number, key: "max_bytes" | "max_files", what: string): void {
    const limit = this.#limit[key];
    if (found <= limit) return;
    throw new CapstanError(
      "workspace_invalid",
      `${this.#name} contains more than ${whole(limit)} ${what}: the count stopped at ${whole(this.files)} files and ` +
        `${whole(this.bytes)} bytes. Nothing was kept. Raise ${this.#limit.field}.${key}, or leave something out with ` +
        "include, exclude or gitignore.",
      { data: { limit: `${this.#limit.field}.${key}`, max: limit, files: this.files, bytes: this.bytes } },
    );
  }
}
