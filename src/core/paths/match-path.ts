import { expandBraces, type Glob, matchesGlob, parseGlob } from "./glob.ts";

/**
 * Path patterns of rules, in .gitignore syntax. Where a pattern is ambiguous, restricting rules (deny, ask) match
 * broadly and allow rules narrowly.
 */
export interface PathPattern {
  readonly alternatives: readonly Anchored[];
}

interface Anchored {
  /**
   * Where the path components start: `slash` is one leading slash, which can mean absolute or, as in Claude Code,
   * relative to the project; `name` has no slash and matches at any depth.
   */
  readonly anchor: "workspace" | "home" | "root" | "slash" | "name";
  /** The number of leading `..`. */
  readonly up: number;
  readonly segments: readonly Segment[];
  /** Whether a matching directory includes everything in it, even in an allow rule. */
  readonly isDirectory: boolean;
}

type Segment = Glob | typeof ANY_DEPTH;

const ANY_DEPTH = "**";
/** Limit for readability. */
const MAX_ALTERNATIVES = 64;

export interface PathRoots {
  readonly workspace: string;
  readonly home: string;
}

/** An absolute path prepared for matching; created once per call, not once per rule. */
export interface LocatedPath {
  readonly names: readonly string[];
  readonly workspace: readonly string[];
  readonly home: readonly string[];
  readonly inWorkspace: readonly string[] | undefined;
  readonly inHome: readonly string[] | undefined;
}

/** Prepares paths for matching, relative to these places. */
export function locator(places: PathRoots): (path: string) => LocatedPath {
  const workspace = namesOf(places.workspace);
  const home = namesOf(places.home);
  return (path) => {
    const names = namesOf(path);
    return { names, workspace, home, inWorkspace: below(names, workspace), inHome: below(names, home) };
  };
}

function namesOf(path: string): readonly string[] {
  return composeAccents(path)
    .split("/")
    .filter((name) => name !== "");
}

/** Accented characters have two encodings that look alike; some file systems treat them as the same name. */
function composeAccents(text: string): string {
  return text.normalize("NFC");
}

function below(names: readonly string[], base: readonly string[]): readonly string[] | undefined {
  for (let index = base.length - 1; index >= 0; index--) if (names[index] !== base[index]) return undefined;
  return names.slice(base.length);
}

/** Returns a problem instead, as the end of a sentence, if the pattern is not valid. */
export function parsePathPattern(text: string): PathPattern | string {
  const expanded = expandBraces(composeAccents(text), MAX_ALTERNATIVES);
  if (expanded === undefined) return `its braces expand to more than ${MAX_ALTERNATIVES} paths`;
  const alternatives = expanded.map(parseAnchored);
  const problem = alternatives.find((alternative) => typeof alternative === "string");
  if (problem !== undefined) return problem;
  return { alternatives: alternatives.filter((alternative) => typeof alternative !== "string") };
}

function parseAnchored(text: string): Anchored | string {
  if (text.startsWith("~") && text !== "~" && !text.startsWith("~/"))
    return "~ means your own home directory and must be followed by a slash";
  const anchor = anchorOf(text);
  const names: string[] = [];
  let up = 0;
  for (const name of text.replace(/^~(?=\/|$)/, "").split("/")) {
    if (name === "" || name === ".") continue;
    if (name !== "..") {
      if (name !== ANY_DEPTH || names.at(-1) !== ANY_DEPTH) names.push(name);
      continue;
    }
    const last = names.pop();
    if (last === undefined) up++;
    else if (/[*?[]/.test(last)) return "`..` cannot follow a wildcard";
  }
  const segments = names.map((name): Segment => (name === ANY_DEPTH ? ANY_DEPTH : parseGlob(name)));
  const last = segments.at(-1);
  const isDirectory = last === undefined || last === ANY_DEPTH || last.literal !== undefined || text.endsWith("/");
  return { anchor, up, segments, isDirectory };
}

function anchorOf(text: string): Anchored["anchor"] {
  if (text.startsWith("//")) return "root";
  if (text.startsWith("/")) return "slash";
  if (text.startsWith("~")) return "home";
  return /^[^/]+\/?$/.test(text) && !/^\.\.?\/?$/.test(text) ? "name" : "workspace";
}

/** A name that every matching path must contain, and where it must come first; undefined if there is none. */
export function nameThatLeads({
  anchor,
  up,
  segments: [first],
}: Anchored): { name: string; places: readonly ("root" | "workspace" | "home" | "any")[] } | undefined {
  if (first === undefined || first === ANY_DEPTH || first.literal === undefined || up > 0) return undefined;
  return { name: first.literal, places: LEADS[anchor] };
}

const LEADS = {
  workspace: ["workspace"],
  home: ["home"],
  root: ["root"],
  slash: ["root", "workspace"],
  name: ["any"],
} as const;

/** How a pattern relates to a path. */
export interface PathMatch {
  readonly matches: boolean;
  /** Everything below the path matches too. */
  readonly whole: boolean;
  /** Something below the path may match. */
  readonly reaches: boolean;
}

const NO_MATCH: PathMatch = { matches: false, whole: false, reaches: false };
/** A directory above the pattern's start. */
const ABOVE: PathMatch = { matches: false, whole: false, reaches: true };

export function matchPath(pattern: PathPattern, path: LocatedPath, reading: "allow" | "restrict"): PathMatch {
  let result = NO_MATCH;
  for (const alternative of pattern.alternatives)
    for (const start of startsOf(alternative, path, reading)) {
      const found =
        start === "above"
          ? ABOVE
          : walk(start.segments, start.names, reading === "restrict" || alternative.isDirectory);
      result = {
        matches: result.matches || found.matches,
        whole: result.whole || found.whole,
        reaches: result.reaches || found.reaches,
      };
    }
  return result;
}

type Start = "above" | { readonly segments: readonly Segment[]; readonly names: readonly string[] };

/** The components to match, for each possible reading of the pattern. */
function startsOf({ anchor, up, segments }: Anchored, path: LocatedPath, reading: "allow" | "restrict"): Start[] {
  const fromRoot: Start = { segments, names: path.names };
  const at = (base: readonly string[], relative: readonly string[] | undefined): Start[] => {
    if (up === 0 && relative !== undefined) return [{ segments, names: relative }];
    const climbed = base.slice(0, Math.max(0, base.length - up));
    const names = below(path.names, climbed);
    if (names !== undefined) return [{ segments, names }];
    return below(climbed, path.names) === undefined ? [] : ["above"];
  };
  const deep = (): Start[] => {
    const anywhere = [ANY_DEPTH, ...segments] as const;
    if (reading === "restrict") return [{ segments: anywhere, names: path.names }];
    return path.inWorkspace === undefined ? [] : [{ segments: anywhere, names: path.inWorkspace }];
  };
  switch (anchor) {
    case "root":
      return [fromRoot];
    case "slash":
      return reading === "restrict" ? [fromRoot, ...at(path.workspace, path.inWorkspace)] : [fromRoot];
    case "home":
      return at(path.home, path.inHome);
    case "name":
      return deep();
    case "workspace":
      return at(path.workspace, path.inWorkspace);
  }
}

/** Follows all paths through the pattern at once, component by component. */
function walk(segments: readonly Segment[], names: readonly string[], bringsAll: boolean): PathMatch {
  const end = segments.length;
  let states = new Set<number>();
  enter(0);
  for (const name of names) {
    if (states.has(end) && bringsAll) return { matches: true, whole: true, reaches: true };
    const before = states;
    states = new Set();
    for (const state of before) {
      const segment = segments[state];
      if (segment === ANY_DEPTH) enter(state);
      else if (segment !== undefined && matchesGlob(segment, name)) enter(state + 1);
    }
    if (states.size === 0) return NO_MATCH;
  }
  const matches = states.has(end);
  const whole = (matches && bringsAll) || (segments.at(-1) === ANY_DEPTH && states.has(end - 1));
  return { matches, whole, reaches: matches ? bringsAll || states.size > 1 : true };

  function enter(state: number): void {
    states.add(state);
    // Matches any number of components, including none.
    if (segments[state] === ANY_DEPTH) enter(state + 1);
  }
}
