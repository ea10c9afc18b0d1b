import { readFileSync, statSync } from "node:fs";
import { dirname, extname, resolve } from "node:path";
import { isInside } from "../core/paths/is-inside.ts";

interface LoadDirectories {
  /** Where relative paths in a shell script may lead, besides the script's own directory. */
  readonly from: readonly string[];
  /** Only files in these directories are included. */
  readonly within: readonly string[];
}

/** More than any program has; further files are ignored, and the list's length shows it. */
const MAX_FILES = 1_000;

/**
 * Programs, and the files next to them that they load: relative imports of JavaScript, imports of Python, and any file
 * that a shell script names. Not included: packages, and paths that a program computes.
 */
export function filesLoadedBy(programs: readonly string[], { from, within }: LoadDirectories): readonly string[] {
  const files = new Set<string>();
  const open = [...programs];
  for (let file = open.shift(); file !== undefined && files.size < MAX_FILES; file = open.shift()) {
    const path = file;
    if (files.has(path) || !within.some((directory) => isInside(path, directory)) || !isFile(path)) continue;
    files.add(path);
    open.push(...namedIn(path, from));
  }
  return [...files];
}

function namedIn(file: string, from: readonly string[]): readonly string[] {
  const text = textOf(file);
  const [first = ""] = text.split("\n", 1);
  const ending = extname(file).toLowerCase();
  const isRunBy = (program: RegExp): boolean => first.startsWith("#!") && program.test(first);
  if (/^\.[cm]?[jt]sx?$/.test(ending) || isRunBy(/\b(?:node|deno|bun|tsx)\b/)) return javascriptImports(file, text);
  if (ending === ".py" || isRunBy(/python/)) return pythonImports(file, text);
  if (/^\.(?:ba|z|k|da)?sh$/.test(ending) || isRunBy(/sh\b/)) return namedByShell(file, text, from);
  return [];
}

const MAX_SCRIPT_BYTES = 4 * 1_048_576;

/** Empty for files that can't be read, or are too large to be written by hand. */
function textOf(file: string): string {
  try {
    return statSync(file).size > MAX_SCRIPT_BYTES ? "" : readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

const JAVASCRIPT = /(?:\bfrom|\bimport|\brequire)\s*\(?\s*["'`](\.{1,2}\/[^"'`]+)["'`]/g;
const ENDINGS = ["", ".js", ".mjs", ".cjs", ".ts", ".mts", ".json", "/index.js", "/index.ts"];

function javascriptImports(file: string, text: string): string[] {
  return [...text.matchAll(JAVASCRIPT)].flatMap(([, path = ""]) => {
    const named = resolve(dirname(file), path);
    return ENDINGS.map((ending) => `${named}${ending}`);
  });
}

const PYTHON = /^[ \t]*(?:from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]+(.+)|import[ \t]+(.+))$/gm;

/** Python searches next to the started script, which may be above the importing module. */
function pythonImports(file: string, text: string): string[] {
  return [...text.matchAll(PYTHON)].flatMap(([, dots = "", from = "", names = "", modules = ""]) => {
    const above = "../".repeat(Math.max(0, dots.length - 1));
    const imported = wordsIn(names).map((name) => `${from}.${name}`);
    return [from, ...imported, ...wordsIn(modules)]
      .map((name) => name.split(".").filter(Boolean).join("/"))
      .filter(Boolean)
      .flatMap((path) => [resolve(dirname(file), above, path), resolve(dirname(file), "..", path)])
      .flatMap((path) => [`${path}.py`, `${path}/__init__.py`]);
  });
}

function wordsIn(list: string): readonly string[] {
  return list.split(/[^\w.]+/).filter(Boolean);
}

/** A word with a slash or an extension. `$(dirname "$0")/lib.sh` is `/lib.sh` here. */
function namedByShell(file: string, text: string, from: readonly string[]): string[] {
  const words = text.split(/[\s"'`;|&()<>{}=$]+/).filter((word) => word.includes("/") || /\.\w+$/.test(word));
  return [...new Set(words)].flatMap((word) => [
    ...[dirname(file), ...from].map((directory) => resolve(directory, word)),
    resolve(dirname(file), word.replace(/^\/+/, "")),
  ]);
}

function isFile(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    // Running it reports the problem.
    return false;
  }
}
