import type { Dirent } from "node:fs";
import { lstat, readdir, realpath } from "node:fs/promises";
import { basename, dirname } from "node:path";
import type { CopyTally } from "../kinds/copy-tally.ts";
import { diskFailure, stopIfAborted } from "../disk-failure.ts";
import { type Candidate, type MountFilter, mountFilter } from "./mount-filter.ts";
import type { MountRequest } from "./mount-request.ts";
import { see, type SeenFile } from "../seen-file.ts";

export interface ScannedFile {
  readonly file: SeenFile;
  /** Relative to the mount; empty for a mount that is a file. */
  readonly at: Buffer;
}

export interface ScannedDirectory {
  readonly at: Buffer;
  readonly mode: number;
}

export interface MountScan {
  readonly files: readonly ScannedFile[];
  /** Directories to create; each comes after its parent. */
  readonly directories: readonly ScannedDirectory[];
  /** The number of links, sockets, pipes and devices that were left out. */
  readonly skipped: number;
}

interface Visit extends Candidate {
  readonly mode: number;
  readonly parent: Visit | undefined;
}

const NOTHING = Buffer.alloc(0);
/** How many files to inspect at once. */
const AT_ONCE = 32;

export function joinBytes(directory: Buffer, name: Buffer): Buffer {
  return directory.length === 0 ? name : Buffer.concat([directory, Buffer.from("/"), name]);
}

/** Finds what a mount takes, and throws as soon as it exceeds the limits. Copies nothing yet. */
export async function scanMount(mount: MountRequest, tally: CopyTally, signal?: AbortSignal): Promise<MountScan> {
  const scan = new Scan(mount, tally, signal);
  if (mount.kind === "file") await scan.takeSingleFile();
  else await scan.walkMount();
  return { files: scan.files, directories: [...scan.made.values()], skipped: scan.skipped };
}

class Scan {
  readonly files: ScannedFile[] = [];
  readonly made = new Map<Visit, ScannedDirectory>();
  skipped = 0;
  readonly #root: Buffer;
  readonly #filter: MountFilter;
  readonly #follows: boolean;
  readonly #tally: CopyTally;
  readonly #signal: AbortSignal | undefined;

  constructor(mount: MountRequest, tally: CopyTally, signal: AbortSignal | undefined) {
    this.#root = Buffer.from(mount.source);
    this.#filter = mountFilter(mount, mount.kind === "file" ? Buffer.from(dirname(mount.source)) : this.#root);
    this.#follows = mount.settings.symlinks === "follow";
    this.#tally = tally;
    this.#signal = signal;
  }

  async takeSingleFile(): Promise<void> {
    const at = Buffer.from(basename(this.#root.toString()));
    await this.#takeFile({ path: this.#root, at }, undefined, NOTHING);
  }

  async walkMount(): Promise<void> {
    const { mode } = await this.#looking(this.#root, lstat(this.#root));
    const root: Visit = { path: this.#root, at: NOTHING, mode, parent: undefined };
    this.#make(root);
    await this.#walk(root);
  }

  async #walk(visit: Visit): Promise<void> {
    stopIfAborted(this.#signal);
    this.#tally.addDirectory();
    const entries = await this.#looking(visit.path, readdir(visit.path, { withFileTypes: true, encoding: "buffer" }));
    const nested = entries.filter((entry) => entry.isDirectory());
    const others = entries.filter((entry) => !entry.isDirectory());
    for (let start = 0; start < others.length; start += AT_ONCE) {
      stopIfAborted(this.#signal);
      await Promise.all(others.slice(start, start + AT_ONCE).map((entry) => this.#meet(entry, visit)));
    }
    for (const entry of nested) await this.#enter(within(visit, entry), visit);
  }

  async #meet(entry: Dirent<Buffer>, visit: Visit): Promise<void> {
    const candidate = within(visit, entry);
    if (entry.isSymbolicLink() && this.#follows) await this.#follow(candidate, visit);
    else if (entry.isFile() && !isGitLink(entry)) await this.#takeFile(candidate, visit, candidate.at);
    else await this.#leaveOut(candidate);
  }

  async #takeFile(candidate: Candidate, visit: Visit | undefined, at: Buffer): Promise<void> {
    if (!(await this.#filter.takesFile(candidate))) return;
    const file = await this.#looking(candidate.path, see(candidate.path));
    if (file === undefined) return this.#leaveOut(candidate);
    this.#tally.addFile(file.size);
    this.files.push({ file, at });
    this.#make(visit);
  }

  async #enter(candidate: Candidate, parent: Visit): Promise<void> {
    const verdict = await this.#filter.directory(candidate);
    if (verdict === "skip") return;
    // A link can lead back to a directory that is being walked.
    for (let above: Visit | undefined = parent; above !== undefined; above = above.parent)
      if (above.path.equals(candidate.path)) return void this.skipped++;
    const { mode } = await this.#looking(candidate.path, lstat(candidate.path));
    const visit: Visit = { ...candidate, mode, parent };
    if (verdict === "keep") this.#make(visit);
    await this.#walk(visit);
  }

  async #follow(link: Candidate, visit: Visit): Promise<void> {
    const path = await realpath(link.path, { encoding: "buffer" }).catch(() => undefined);
    const isInside = path !== undefined && path.indexOf(joinBytes(this.#root, NOTHING)) === 0;
    if (!isInside) return this.#leaveOut(link);
    const found = await this.#looking(path, lstat(path));
    if (found.isDirectory()) await this.#enter({ path, at: link.at }, visit);
    else if (found.isFile()) await this.#takeFile({ path, at: link.at }, visit, link.at);
    else await this.#leaveOut(link);
  }

  /** Counts what was left out for other reasons than patterns. */
  async #leaveOut(candidate: Candidate): Promise<void> {
    if (await this.#filter.takesFile(candidate)) this.skipped++;
  }

  #make(visit: Visit | undefined): void {
    if (visit === undefined || this.made.has(visit)) return;
    this.#make(visit.parent);
    this.made.set(visit, { at: visit.at, mode: visit.mode });
  }

  async #looking<T>(path: Buffer, work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw diskFailure(error, "Reading", path);
    }
  }
}

function within(visit: Visit, { name }: Dirent<Buffer>): Candidate {
  return { path: joinBytes(visit.path, name), at: joinBytes(visit.at, name) };
}

/** The `.git` of a worktree or a submodule is a file that names a directory: commits in the copy would go there. */
function isGitLink(entry: Dirent<Buffer>): boolean {
  return entry.name.toString() === ".git";
}
