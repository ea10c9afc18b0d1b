import { basename, dirname, resolve } from "node:path";
import { isSecretName, NO_SECRETS } from "../../core/environment/secret-files.ts";
import { followPath } from "./real-path.ts";
import type { Surroundings } from "./names.ts";

type Input = Readonly<Record<string, unknown>>;

/** The field that names the one file a tool works on, and what the tool does there. */
export const FILE_FIELDS: Readonly<Record<string, readonly [field: string, access: "read" | "write"]>> = {
  Read: ["file_path", "read"],
  Write: ["file_path", "write"],
  Edit: ["file_path", "write"],
  NotebookEdit: ["notebook_path", "write"],
};
/** Tools that read whatever lies below the directory in `path`; without one, below the workspace. */
export const SEARCH_TOOLS: readonly string[] = ["Glob", "Grep"];

export interface FileInput {
  /** What is decided about, and what runs: each path is absolute and means the same to every reader. */
  readonly input: Input;
  /** Why no tool may run with it. */
  readonly refused?: string;
}

/**
 * The input of a file tool with its paths written out. Tools differ in what they make of a path (which blanks they
 * drop, what `~` is, where a pattern begins), so rules would judge one file and the tool open another. A decision is
 * made about this input, and the tool is given it. Doing it twice changes nothing.
 */
export function fileInput(tool: string, input: Input, places: Surroundings): FileInput {
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

/** Whether two inputs of a tool that works on one file differ in nothing but how they write its path. */
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

function withFile(input: Input, field: string, places: Surroundings): Input {
  const path = input[field];
  if (typeof path !== "string") return input;
  const plain = plainPath(field, path, places);
  if (plain === undefined) throw new Refused(`${field} is empty. Name a file.`);
  return { ...input, [field]: plain };
}

function withSearch(tool: string, input: Input, places: Surroundings): Input {
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

/** A search for content passes over files that may hold a secret, unless it names the file. */
function withoutSecrets(input: Input): Input {
  const { path, glob } = input;
  const given = typeof glob === "string" ? glob : "";
  if ((typeof path === "string" && isSecretName(path)) || given.split(/\s+/).at(-1) === NO_SECRETS) return input;
  return { ...input, glob: `${given} ${NO_SECRETS}`.trim() };
}

/** The directory that an absolute pattern begins in, which counts instead of `path`, and the rest of the pattern. */
function startOf(pattern: string): { directory?: string; pattern: string } {
  if (!pattern.startsWith("/")) return { pattern };
  const wildcard = pattern.search(/[*?[{]/);
  if (wildcard < 0) return { directory: dirname(pattern), pattern: basename(pattern) };
  const slash = pattern.lastIndexOf("/", wildcard);
  return { directory: pattern.slice(0, slash) || "/", pattern: pattern.slice(slash + 1) };
}

/** What Linux takes, the closing zero included. */
const MAX_BYTES = 4_096;
const MAX_NAME_BYTES = 255;

/** Absolute, without blanks around it, `~`, `.` and `..`; undefined when nothing is named. */
function plainPath(field: string, text: string, { cwd, home }: Surroundings): string | undefined {
  const written = text.trim();
  requirePlainText(field, written);
  if (written === "") return undefined;
  if (/^file:\/\//i.test(written)) throw new Refused(`${field} is a URL. Give the path itself.`);
  const path = resolve(
    cwd,
    written.replace(/^~(?=\/|$)/, () => home),
  );
  if (path.trim() !== path) throw new Refused(`${field} ends in white space, which some tools drop. Leave it out.`);
  if (bytesOf(path) >= MAX_BYTES || path.split("/").some((name) => bytesOf(name) > MAX_NAME_BYTES))
    throw new Refused(`${field} is too long: no file can have this name.`);
  const { trouble } = followPath(path);
  if (trouble === "loop") throw new Refused(`${field} cannot be followed: its links lead in a circle.`);
  if (trouble === "process")
    throw new Refused(`${field} leads somewhere else in every process. Give the path of the file itself.`);
  return path;
}

function bytesOf(text: string): number {
  return Buffer.byteLength(text);
}

// oxlint-disable-next-line no-control-regex -- They are what this looks for.
const CONTROL = /[\u0000-\u001F\u007F-\u009F]/;

function requirePlainText(field: string, text: string): void {
  if (CONTROL.test(text)) throw new Refused(`${field} contains a control character. Remove it.`);
  if (!text.isWellFormed()) throw new Refused(`${field} is not valid Unicode. Write it again.`);
}
