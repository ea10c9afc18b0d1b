import { realpathSync } from "node:fs";
import { relative, sep } from "node:path";
import { isInside } from "../../core/paths/is-inside.ts";
import type { Widening } from "./judge.ts";

export type TrustKind = "settings" | "variables" | "agent" | "suite";

/** One file of an item that can be trusted. */
export interface TrustFile {
  readonly path: string;
  /** SHA-256 of its bytes, in hex. */
  readonly hash: string;
  /** For people, to show what changed. Never a secret. */
  readonly text: string;
}

/** One exact content of a project's settings, its `.env`, an agent or a suite, with all files that it names. */
export interface TrustItem {
  readonly kind: TrustKind;
  /** The directory of its project; its own directory if there is none. */
  readonly root: string;
  readonly path: string;
  readonly files: readonly TrustFile[];
  /** Hash of everything above. Changed content has another hash. */
  readonly hash: string;
  /** What it allows beyond the current configuration without it. */
  readonly widens: readonly Widening[];
}

export interface Content {
  readonly kind: TrustKind;
  readonly root: string;
  readonly path: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly widens: readonly Widening[];
  /** How the text of a file is shown (default: unchanged). */
  readonly render?: (bytes: Uint8Array) => string;
}

export function trustItemOf({ kind, root, path, files, widens, render = plainText }: Content): TrustItem {
  const all = [...files]
    .map(([file, bytes]): TrustFile => ({ path: file, hash: sha256Of(bytes), text: render(bytes) }))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const hash = sha256Of(JSON.stringify([kind, root, path, all.map((file) => [file.path, file.hash])]));
  return { kind, root, path, files: all, hash, widens };
}

export function sha256Of(content: Uint8Array | string): string {
  return process.getBuiltinModule("node:crypto").createHash("sha256").update(content).digest("hex");
}

/** Nobody reads longer files. */
const MAX_SHOWN_BYTES = 256 * 1024;

function plainText(bytes: Uint8Array): string {
  const text = bytes.length > MAX_SHOWN_BYTES ? "\0" : Buffer.from(bytes).toString("utf8");
  return text.includes("\0") ? `(${bytes.length} bytes, ${sha256Of(bytes).slice(0, 8)})\n` : text;
}

/** Whether a file is in one of the directories, with links resolved. */
export function liesInAny(path: string, directories: readonly string[]): boolean {
  const real = realPathOrSame(path);
  return directories.some((directory) => isInside(real, realPathOrSame(directory)));
}

/** What Capstan keeps in its home for agents and for itself: not written to be used as an agent. */
const KEPT = new Set([
  "chat-history",
  "ended-logins",
  "files",
  "hosts",
  "outputs",
  "projects",
  "sdks",
  "sessions",
  "trust",
  "workspaces",
]);

/** Whether a file in Capstan's home was written by the user; the workspaces of sessions are there as well. */
export function isUsersOwn(path: string, home: string): boolean {
  if (!liesInAny(path, [home])) return false;
  const [first = "", ...rest] = relative(realPathOrSame(home), realPathOrSame(path)).split(sep);
  return rest.length === 0 ? /\.(?:ya?ml|md)$/.test(first) : !KEPT.has(first);
}

export function realPathOrSame(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
