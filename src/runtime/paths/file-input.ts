import { basename, dirname, resolve } from "node:path";
import { isSecretName, NO_SECRETS } from "../../core/environment/secret-files.ts";
import { followPath } from "./real-path.ts";
import type { PathSurroundings } from "./path-names.ts";

type Input = Readonly<Record<string, unknown>>;

/** The field that names a tool's file, and how the tool accesses it. */
export const FILE_FIELDS: Readonly<Record<string, readonly [field: string, access: "read" | "write"]>> = {
  Read: ["file_path", "read"],
  Write: ["file_path", "write"],
  Edit: ["file_path", "write"],
  NotebookEdit: ["notebook_path", "write"],
};
/** Tools that read everything below the directory in `path` (default: the workspace). */
export const SEARCH_TOOLS: readonly string[] = ["Glob", "Grep"];

export interface FileInput {
  /** The input to decide about and to run: each path is absolute and unambiguous. */
  readonly input: Input;
  /** Why no tool may run with this input. */
  readonly refused?: string;
}

/**
 * Returns a file tool's input with normalized paths. Tools interpret paths differently (which blanks they drop, what
 * `~` is, where a pattern begins), so rules could check one file while the tool opens another. Both the decision and
 * the tool use this input. Idempotent.
 */
export function fileInput(tool: string, input: Input, places: PathSurroundings): FileInput {
  try {
    const [field] = FILE_FIELDS[tool] ?? [];
    if (field !== undefined) return { input: withFile(input, field, places) };
    if (SEARCH_TOOLS.includes(tool)) return { input: withSearch(tool, input, places) };
    return { input };
  } catch (thrown) {
    if (thrown instanceof Refused) return { input, refused: thrown.message };
    throw thrown;
  }
}

/** Whether two inputs of a single-file tool differ only in how they write the path. */
export function isSameFile(tool: string, [one, other]: readonly [Input, Input], cwd: string): boolean {
  const [field] = FILE_FIELDS[tool] ?? [];
  if (field === undefined) return false;
  const plain = (input: Input): string => {
    const path = input[field];
    return JSON.stringify(typeof path === "string" ? { ...input, [field]: resolve(cwd, path) } : input);
  };
  return plain(one) === plain(other);
}

class Refused extends Error {}

function withFile(input: Input, field: string, places: PathSurroundings): Input {
  const path = input[field];
  if (typeof path !== "string") return input;
  const plain = plainPath(field, path, places);
  if (plain === undefined) throw new Refused(`${field} is empty. Name a file.`);
  return { ...input, [field]: plain };
}

function withSearch(tool: string, input: Input, places: PathSurroundings): Input {
  const { pattern, path, glob } = input;
  if (typeof glob === "string") requirePlainText("glob", glob);
  const directory = typeof path === "string" ? (plainPath("path", path, places) ?? resolve(places.cwd)) : undefined;
  const searched = directory === undefined ? input : { ...input, path: directory };
  if (tool === "Grep") return withoutSecrets(searched);
  if (typeof pattern !== "string") return searched;
  requirePlainText("pattern", pattern);
  const start = startOf(pattern.replace(/^~(?=\/)/, () => resolve(places.home)));
  if (start.pattern.split(/[/{},]/).includes(".."))
    throw new Refused("A pattern cannot contain `..`. Put the directory to search into path.");
  if (start.directory === undefined) return searched;
  return { ...input, path: plainPath("pattern", start.directory, places) ?? "/", pattern: start.pattern };
}

/** Makes a content search skip files that may contain secrets, unless it names the file. */
function withoutSecrets(input: Input): Input {
  const { path, glob } = input;
  const given = typeof glob === "string" ? glob : "";
  if ((typeof path === "string" && isSecretName(path)) || given.split(/\s+/).at(-1) === NO_SECRETS) return input;
  return { ...input, glob: `${given} ${NO_SECRETS}`.trim() };
}

/** Splits an absolute pattern into the directory it begins in, which overrides `path`, and the rest. */
function startOf(pattern: string): { directory?: string; pattern: string } {
  if (!pattern.startsWith("/")) return { pattern };
  const wildcard = pattern.search(/[*?[{]/);
  if (wildcard < 0) return { directory: dirname(pattern), pattern: basename(pattern) };
  const slash = pattern.lastIndexOf("/", wildcard);
  return { directory: pattern.slice(0, slash) || "/", pattern: pattern.slice(slash + 1) };
}

/** The limit on Linux, including the terminating null byte. */
const MAX_BYTES = 4_096;
const MAX_NAME_BYTES = 255;

/** Returns an absolute path without surrounding blanks, `~`, `.` and `..`; undefined if the input names none. */
function plainPath(field: string, text: string, { cwd, home }: PathSurroundings): string | undefined {
  const written = text.trim();
  requirePlainText(field, written);
  if (written === "") return undefined;
  if (/^file:\/\//i.test(written)) throw new Refused(`${field} is a URL. Give the path itself.`);
  const path = resolve(
    cwd,
    written.replace(/^~(?=\/|$)/, () => home),
  );
  if (path.trim() !== path) throw new Refused(`${field} ends in whitespace, which some tools drop. Remove it.`);
  if (bytesOf(path) >= MAX_BYTES || path.split("/").some((name) => bytesOf(name) > MAX_NAME_BYTES))
    throw new Refused(`${field} is too long: no file can have this name.`);
  const { trouble } = followPath(path);
  if (trouble === "loop") throw new Refused(`${field} cannot be resolved: its links form a loop.`);
  if (trouble === "process")
    throw new Refused(`${field} leads to a different place in each process. Use the path of the file itself.`);
  return path;
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}

// oxlint-disable-next-line no-control-regex -- The pattern searches for control characters.
const CONTROL = /[\u0000-\u001F\u007F-\u009F]/;

function requirePlainText(field: string, text: string): void {
  if (CONTROL.test(text)) throw new Refused(`${field} contains a control character. Remove it.`);
  if (!text.isWellFormed()) throw new Refused(`${field} is not valid Unicode. Use a valid path.`);
}
