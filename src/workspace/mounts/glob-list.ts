import picomatch from "picomatch";
import { CapstanError, messageOf } from "../../core/errors.ts";

interface Glob {
  /** Written with `!`: it negates. */
  readonly negated: boolean;
  /** Written with a slash at the end. */
  readonly directoryOnly: boolean;
  readonly matches: (path: string) => boolean;
  /** Whether it matches the directory with everything in it: `build/**` matches `build` like `build` does. */
  readonly matchesDirectory: (path: string) => boolean;
  readonly segments: readonly string[];
}

/**
 * Patterns in the order they were written; the last match decides. A pattern is anchored at the mount and also matches
 * everything in a matching directory: `build` excludes all of `build`.
 */
export interface GlobList {
  readonly isEmpty: boolean;
  matches(path: string, kind: "file" | "directory"): boolean;
  /** Whether something in the directory could match, for an include list; conservative. */
  mayMatchIn(directory: string): boolean;
  /** Whether everything in the directory matches and no later `!` negates any of it; conservative. */
  matchesAllOf(directory: string): boolean;
}

// Match dot files and line breaks, and report invalid patterns instead of matching nothing.
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

  /** The index of the deciding pattern, or -1. */
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
  // `!(a|b)` is a pattern, not a negation.
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
    throw wrong(`is not valid: ${messageOf(error)}. Put a backslash before a literal special character`);
  }
}

function ancestors(path: string): string[] {
  const found: string[] = [];
  for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) found.push(path.slice(0, at));
  return found;
}

/** Compares name by name, as far as each part of the pattern matches exactly one name. */
function reaches({ segments }: Glob, directory: string): boolean {
  for (const [index, name] of directory.split("/").entries()) {
    const segment = segments[index];
    if (segment === undefined || segment.includes("**") || /[{(]/.test(segment)) return true;
    if (!picomatch.isMatch(name, segment, OPTIONS)) return false;
  }
  return true;
}
