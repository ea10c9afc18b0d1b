import picomatch from "picomatch";
import { CapstanError, messageOf } from "../../core/errors.ts";

interface Glob {
  /** Written with `!`: it takes back. */
  readonly negated: boolean;
  /** Written with a slash at the end. */
  readonly directoryOnly: boolean;
  readonly matches: (path: string) => boolean;
  /** Also whether it matches all that is in it: `build/**` says of `build` what `build` does. */
  readonly matchesDirectory: (path: string) => boolean;
  readonly segments: readonly string[];
}

/**
 * Patterns in the order they were written; the last one that matches decides. A pattern is anchored at the mount, and
 * matches what lies in a directory that it matches: `build` leaves out all of `build`.
 */
export interface GlobList {
  readonly isEmpty: boolean;
  matches(path: string, kind: "file" | "directory"): boolean;
  /** Whether something in the directory could match, for a list that takes; conservative. */
  mayMatchIn(directory: string): boolean;
  /** Whether everything in the directory matches, and no later `!` could take any of it back; conservative. */
  matchesAllOf(directory: string): boolean;
}

// Dot files are files, a line break is a character, and what is wrong in a pattern is told instead of matching nothing.
const OPTIONS = {
  dot: true,
  nonegate: true,
  flags: "s",
  debug: true,
  strictBrackets: true,
  strictSlashes: true,
} as const;

export function globList(patterns: readonly string[], field: string): GlobList {
  const globs = patterns.map((pattern) => compile(pattern, field));

  /** The index of the pattern that decides, or -1. */
  function deciding(path: string, kind: "file" | "directory"): number {
    const above = ancestors(path);
    return globs.findLastIndex(
      ({ matches, matchesDirectory, directoryOnly }) =>
        (kind === "directory" ? matchesDirectory(path) : !directoryOnly && matches(path)) ||
        above.some((directory) => matchesDirectory(directory)),
    );
  }
  const isMatch = (index: number): boolean => globs[index]?.negated === false;

  return {
    isEmpty: globs.length === 0,
    matches: (path, kind) => isMatch(deciding(path, kind)),
    mayMatchIn: (directory) => globs.some((glob) => !glob.negated && reaches(glob, directory)),
    matchesAllOf(directory) {
      const index = deciding(directory, "directory");
      return isMatch(index) && !globs.slice(index + 1).some((glob) => glob.negated && reaches(glob, directory));
    },
  };
}

function compile(written: string, field: string): Glob {
  // `!(a|b)` is a pattern of its own, not a negation.
  const negated = written.startsWith("!") && !written.startsWith("!(");
  const relative = (negated ? written.slice(1) : written).replace(/^(?:\.\/+)+/, "");
  const pattern = relative.replace(/\/+$/, "");
  const segments = pattern.split("/");
  const wrong = (why: string): CapstanError =>
    new CapstanError("workspace_invalid", `${field}: the pattern ${JSON.stringify(written)} ${why}.`);
  if (pattern === "" || relative.startsWith("/") || segments.includes(".."))
    throw wrong("must be relative to the mount, without a leading / and without ..");
  try {
    const directoryOnly = relative.endsWith("/");
    const matches = picomatch(pattern, OPTIONS);
    const whole = pattern.endsWith("/**") && !directoryOnly ? picomatch(pattern.slice(0, -3), OPTIONS) : () => false;
    const matchesDirectory = (path: string): boolean => matches(path) || whole(path);
    return { negated, directoryOnly, matches, matchesDirectory, segments };
  } catch (error) {
    throw wrong(`is not valid: ${messageOf(error)}. Put a backslash before a character that means itself`);
  }
}

function ancestors(path: string): string[] {
  const found: string[] = [];
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) found.push(path.slice(0, at));
  return found;
}

/** Compares name by name, as far as each part of the pattern stands for one name. */
function reaches({ segments }: Glob, directory: string): boolean {
  for (const [index, name] of directory.split("/").entries()) {
    const segment = segments[index];
    if (segment === undefined || segment.includes("**") || /[{(]/.test(segment)) return true;
    if (!picomatch.isMatch(name, segment, OPTIONS)) return false;
  }
  return true;
}
