import { lstat, mkdir, readdir, readFile, readlink, rm } from "node:fs/promises";
import { join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { checkpointsIn } from "../../core/session/checkpoint-list.ts";
import { CapstanError } from "../../core/errors.ts";
import type { StoredEvent } from "../../core/events/events.ts";
import { isInside } from "../../core/paths/is-inside.ts";
import type { SessionRecord } from "../../core/ports/store.ts";
import { whole } from "../../core/text/thousands.ts";
import { workspaceLocation } from "../../runtime/paths/session-location.ts";
import { ids } from "../clock.ts";
import { workspacesIn } from "../host/workspaces.ts";

/** A fixture is copied for every trial, and committed. */
const MAX_FILES = 1_000;
const MAX_BYTES = 50_000_000;

export interface FixtureRequest {
  readonly home: string;
  readonly record: SessionRecord;
  readonly events: readonly StoredEvent[];
  /** Paths to leave out: the files of a session that works in the suite's directory include other fixtures. */
  readonly without: readonly string[];
  /** Throws if the text must not be in a fixture. */
  readonly check: (what: string, text: string) => void;
}

/**
 * Creates a directory with a session's files as of its first checkpoint, before its first change. Returns false if
 * there are none.
 */
export async function makeFixture(directory: string, request: FixtureRequest): Promise<boolean> {
  const { record, events, without, check } = request;
  const [first] = checkpointsIn(events);
  if (first === undefined) return false;
  await mkdir(directory, { recursive: true });
  await restore(first.commit, directory, request);
  for (const path of without)
    if (path !== record.cwd && isInside(path, record.cwd))
      await rm(join(directory, relative(record.cwd, path)), { recursive: true, force: true });
  const found = await filesIn(directory);
  if (found.files.length > MAX_FILES || found.bytes > MAX_BYTES) throw tooMuch(record, found);
  for (const file of found.files) {
    const [, content] = await contentOf(join(directory, file));
    check(`${file} in the session's files`, content.toString());
  }
  return found.files.length > 0;
}

async function restore(commit: string, directory: string, { home, record }: FixtureRequest): Promise<void> {
  const workspaces = workspacesIn(home, []);
  // Temporarily treats the directory as the workspace of a session that does not exist.
  const place = { sessionId: ids.next("sesn"), kind: "in-place", cwd: directory, source: directory } as const;
  try {
    const workspace = workspaces.open(place, record.environment.checkpoints);
    await workspace.adopt(commit, workspaceLocation(record));
    const empty = await workspace.checkpoint(undefined);
    if (empty !== undefined) await workspace.restore(commit, empty.commit);
  } finally {
    await workspaces.remove(place);
  }
}

interface Found {
  /** Relative and sorted, including links. */
  readonly files: readonly string[];
  readonly bytes: number;
}

async function filesIn(directory: string): Promise<Found> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name));
  let bytes = 0;
  for (const path of paths) bytes += (await lstat(path)).size;
  return { files: paths.map((path) => relative(directory, path)).toSorted(), bytes };
}

function tooMuch({ id }: SessionRecord, { files, bytes }: Found): CapstanError {
  return new CapstanError(
    "too_large",
    `Nothing was recorded: session ${id} began with ${whole(files.length)} ${files.length === 1 ? "file" : "files"} of ${whole(bytes)} bytes in total, and a fixture is limited to ${whole(MAX_FILES)} files and ${whole(MAX_BYTES)} bytes. Repeat the session in a smaller directory and record that one, or write the case yourself with a fixture of what it needs.`,
    { data: { files: files.length, bytes, max_files: MAX_FILES, max_bytes: MAX_BYTES } },
  );
}

/** Whether two directories contain the same files. */
export async function isSameFixture(one: string, other: string): Promise<boolean> {
  const found = await filesIn(one);
  // Before reading anything: it may be of any size and kind.
  if (!isDeepStrictEqual(found, await filesIn(other).catch(() => undefined))) return false;
  for (const file of found.files)
    if (!isDeepStrictEqual(await contentOf(join(one, file)), await contentOf(join(other, file)))) return false;
  return true;
}

async function contentOf(path: string): Promise<readonly [mode: number, content: string | Buffer]> {
  const found = await lstat(path);
  return [found.mode, found.isSymbolicLink() ? await readlink(path) : await readFile(path)];
}
