import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { WorkspaceSettings } from "../../core/environment/environment.ts";
import { CapstanError } from "../../core/errors.ts";
import type { CopyProgress, PreparedMount } from "../../core/ports/workspace.ts";
import { CopyTally } from "./copy-tally.ts";
import { diskFailure, printablePath, stopIfAborted } from "../disk-failure.ts";
import { copyFile } from "../file-copy.ts";
import type { MountRequest } from "../mounts/mount-request.ts";
import { joinBytes, type MountScan, scanMount } from "../mounts/mount-scan.ts";
import { progressReport } from "../progress-report.ts";

export interface CopyRequest {
  readonly mounts: readonly MountRequest[];
  readonly settings: Extract<WorkspaceSettings, { kind: "copy" }>;
  /** An existing empty directory. */
  readonly files: string;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: CopyProgress) => void) | undefined;
}

interface PlannedMount {
  readonly mount: MountRequest;
  readonly tally: CopyTally;
  readonly scan: MountScan;
  /** Relative to the workspace; empty for the workspace itself. */
  readonly target: Buffer;
}

/** How many files to copy at once. */
const AT_ONCE = 8;

/** Scans and counts everything before it copies the first byte. */
export async function fillCopy(request: CopyRequest): Promise<readonly PreparedMount[]> {
  const { signal } = request;
  const planned = await plan(request);
  refuseCollisions(planned);
  const sum = (of: (tally: CopyTally) => number): number => planned.reduce((total, { tally }) => total + of(tally), 0);
  const report = progressReport(request.onProgress, {
    totalFiles: sum(({ files }) => files),
    totalBytes: sum(({ bytes }) => bytes),
  });
  const root = Buffer.from(request.files);
  for (const one of planned) await makeDirectories(one, root);
  const copies = planned.flatMap(({ mount, tally, scan, target }) =>
    scan.files.map(({ file, at }) => async () => {
      const to = joinBytes(root, joinedTarget(target, at));
      const { read_only: readOnly } = mount.settings;
      await copyFile({ file, to, readOnly, signal, grow: (bytes) => tally.grow(bytes), onBytes: report.bytes });
      report.file();
    }),
  );
  await inTurn(copies, signal);
  report.end();
  return planned.map(({ mount, tally, scan }) => ({
    source: mount.source,
    target: mount.target,
    readOnly: mount.settings.read_only,
    files: tally.files,
    bytes: tally.bytes,
    skipped: scan.skipped,
  }));
}

async function plan({ mounts, settings, signal }: CopyRequest): Promise<readonly PlannedMount[]> {
  const field = "environment.workspace";
  const whole = new CopyTally("The workspace", { ...settings, field });
  const planned: PlannedMount[] = [];
  for (const mount of mounts) {
    const { max_bytes = Infinity, max_files = Infinity } = mount.settings;
    const tally = new CopyTally(mount.name, { max_bytes, max_files, field: mount.field }, whole);
    const scan = await scanMount(mount, tally, signal);
    planned.push({ mount, tally, scan, target: Buffer.from(mount.target === "." ? "" : mount.target) });
  }
  return planned;
}

function joinedTarget(target: Buffer, at: Buffer): Buffer {
  return at.length === 0 ? target : joinBytes(target, at);
}

/** Two mounts may share directories, but not a file name. */
function refuseCollisions(planned: readonly PlannedMount[]): void {
  const taken = new Map<string, { readonly kind: "file" | "directory"; readonly mount: MountRequest }>();
  const claim = (path: string, kind: "file" | "directory", mount: MountRequest): void => {
    const before = taken.get(path);
    if (before === undefined) taken.set(path, { kind, mount });
    else if (kind === "file" || before.kind === "file")
      throw new CapstanError(
        "workspace_invalid",
        `${before.mount.name} and ${mount.name} both have a file at ${printablePath(Buffer.from(path, "latin1"))}. ` +
          `Set another target for one of them, or exclude it there: ${mount.field}.`,
      );
  };
  for (const { mount, scan, target } of planned) {
    for (const above of directoriesAbove(target.toString("latin1"))) claim(above, "directory", mount);
    const pathOf = (at: Buffer): string => joinedTarget(target, at).toString("latin1");
    for (const { at } of scan.directories) claim(pathOf(at), "directory", mount);
    for (const { at } of scan.files) claim(pathOf(at), "file", mount);
  }
}

function directoriesAbove(path: string): string[] {
  const above = dirname(path);
  return above === "." ? [] : [...directoriesAbove(above), above];
}

async function makeDirectories({ scan, target, mount }: PlannedMount, root: Buffer): Promise<void> {
  // A file goes into its target's directory; a directory is the target itself.
  const text = joinedTarget(root, target).toString();
  const base = mount.kind === "file" ? dirname(text) : text;
  try {
    await mkdir(base, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw diskFailure(error, "Making", base);
  }
  for (const { at, mode } of scan.directories) {
    if (at.length === 0) continue;
    const path = joinBytes(root, joinedTarget(target, at));
    try {
      // The session must be able to work in it, whatever the permissions on the host.
      await mkdir(path, { mode: (mode & 0o777) | 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw diskFailure(error, "Making", path);
    }
  }
}

/** Runs a few at once; stops at the first failure, after those in progress have finished. */
async function inTurn(work: readonly (() => Promise<void>)[], signal: AbortSignal | undefined): Promise<void> {
  const failures: unknown[] = [];
  const queue = work.values();
  async function worker(): Promise<void> {
    for (const one of queue) {
      try {
        stopIfAborted(signal);
        await one();
      } catch (error) {
        failures.push(error);
      }
      if (failures.length > 0) return;
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  if (failures.length > 0) throw failures[0];
}
