import { type Glob, matchesGlob } from "../paths/glob.ts";
import { commandOf, type CommandWords, matchCommand } from "../rules/match-command.ts";
import { type LocatedPath, locator, matchPath, type PathPattern } from "../paths/match-path.ts";
import type { Rule } from "../rules/rule.ts";
import { isInside } from "../paths/is-inside.ts";
import { isSecretName } from "../environment/secret-files.ts";
import type { CallSubject, NamedPath, Redirection } from "../rules/subject.ts";
import { speaksOf } from "../rules/tool-names.ts";

/** A call, prepared for matching with many rules. */
export interface PreparedCall {
  readonly subject: CallSubject;
  /** What must be allowed: the call itself or, for a shell command, each of its actions. */
  readonly parts: readonly CallPart[];
  readonly paths: readonly LocatedNames[];
  readonly mentions: readonly LocatedNames[];
  /** Directories that a shell command uses as a whole. */
  readonly searched: readonly (LocatedNames & { readonly access: "read" | "write" })[];
}

export type CallPart =
  | { readonly kind: "call" }
  | { readonly kind: "command"; readonly command: ShellCommand; readonly spoken: CommandWords }
  | {
      readonly kind: "redirection";
      readonly access: "read" | "write";
      readonly places: readonly LocatedNames[];
      /** The path is known, is in the workspace, and does not look like a secret. */
      readonly inside: boolean;
    };

export type ShellCommand = NonNullable<CallSubject["shell"]>["commands"][number];

interface LocatedNames {
  readonly named: LocatedPath;
  readonly real: LocatedPath;
}

export function prepareCall(subject: CallSubject): PreparedCall {
  const locate = locator(subject);
  const locatePath = ({ named, real }: NamedPath): LocatedNames => {
    const first = locate(named);
    return { named: first, real: named === real ? first : locate(real) };
  };
  const redirectionPart =
    (access: "read" | "write") =>
    ({ places }: Redirection): CallPart => ({
      kind: "redirection",
      access,
      places: places.map(locatePath),
      inside:
        places.length > 0 &&
        places.every(
          ({ named, real }) => isInside(real, subject.workspace) && !isSecretName(named) && !isSecretName(real),
        ),
    });
  const { shell } = subject;
  const parts: CallPart[] = [
    ...(shell?.commands ?? []).map((command): CallPart => ({
      kind: "command",
      command,
      spoken: commandOf(command.words, command.effects),
    })),
    ...(shell?.writes ?? []).map(redirectionPart("write")),
    ...(shell?.reads ?? []).map(redirectionPart("read")),
  ];
  return {
    subject,
    parts: parts.length === 0 ? [{ kind: "call" }] : parts,
    paths: subject.paths.map(locatePath),
    mentions: (shell?.mentions ?? []).map(locatePath),
    searched: (shell?.searched ?? []).map((place) => ({ ...locatePath(place), access: place.access })),
  };
}

/** The parts of a call that a deny or ask rule matches. */
export interface Hit {
  /** False if the rule might match but this can't be known. */
  readonly isSure: boolean;
  readonly parts: readonly CallPart[];
}

/** Whether a deny or ask rule matches a call; matches as broadly as possible. */
export function hitBy(rule: Rule, call: PreparedCall): Hit | undefined {
  const { subject } = call;
  switch (rule.kind) {
    case "any":
      return all(call, true);
    case "tool":
      if (speaksOf(rule.tool, subject.tool) || rule.written === subject.tool) return all(call, true);
      return subject.shell === undefined ? undefined : redirectionsHit(rule.tool, call);
    case "command":
      return subject.shell === undefined ? undefined : commandsHit(rule, call);
    case "path":
      if (subject.shell !== undefined) return shellPathsHit(rule, call);
      return speaksOf(rule.tool, subject.tool) ? pathsHit(rule.pattern, call) : undefined;
    case "domain":
      if (subject.tool !== "WebFetch") return undefined;
      return subject.domain === undefined
        ? all(call, false)
        : isDomain(rule, subject.domain)
          ? all(call, true)
          : undefined;
    case "mcp": {
      if (rule.except?.includes(subject.tool) === true) return undefined;
      const isBelow = subject.tool.startsWith(`${rule.text}__`);
      return isBelow || matchesGlob(rule.name, subject.tool) ? all(call, true) : undefined;
    }
    case "subagent":
      return subject.tool === "Agent" ? nameHit(rule.name, subject.subagent, call) : undefined;
    case "skill":
      return subject.tool === "Skill" ? nameHit(rule.name, subject.skill, call) : undefined;
  }
}

/** The parts of a call that a deny or ask rule restricts: a file that can't be read can't be edited either. */
export function restrictedBy(rule: Rule, call: PreparedCall): Hit | undefined {
  const hit = hitBy(rule, call);
  if (hit?.isSure === true || rule.kind !== "path" || rule.tool !== "Read") return hit;
  const edited = hitBy({ ...rule, tool: "Edit" }, call);
  return edited?.isSure === true ? edited : (hit ?? edited);
}

/** A call that names nothing specific might match. */
function nameHit(pattern: Glob, name: string | undefined, call: PreparedCall): Hit | undefined {
  if (name === undefined) return all(call, false);
  return matchesGlob(pattern, name) ? all(call, true) : undefined;
}

function all({ parts }: PreparedCall, isSure: boolean): Hit {
  return { isSure, parts };
}

function isDomain(rule: Extract<Rule, { kind: "domain" }>, domain: string): boolean {
  return rule.subdomains ? domain.endsWith(`.${rule.domain}`) : domain === rule.domain;
}

function commandsHit(
  { pattern }: Extract<Rule, { kind: "command" }>,
  { subject, parts }: PreparedCall,
): Hit | undefined {
  let sure: CallPart[] | undefined;
  let possible: CallPart[] | undefined;
  for (const part of parts) {
    if (part.kind !== "command") continue;
    const match = matchCommand(pattern, part.spoken, "restrict");
    if (match === "yes") (sure ??= []).push(part);
    else if (match === "maybe") (possible ??= []).push(part);
  }
  if (sure !== undefined) return { isSure: true, parts: sure };
  // A part that could not be parsed could hide exactly this command, and so could an option that runs a program.
  if (subject.shell?.unclear.length !== 0) return { isSure: false, parts };
  const runs = parts.filter(hidesProgram);
  if (runs.length > 0) return { isSure: false, parts: runs };
  return possible && { isSure: false, parts: possible };
}

/** Whether one of a command's options runs a program that is not listed. */
export function hidesProgram(part: CallPart): boolean {
  return (
    part.kind === "command" &&
    part.command.effects?.some(({ does, doubtful }) => does === "runs a program" && doubtful !== true) === true
  );
}

const WRITES = new Set(["writes a file", "changes files", "deletes files"]);

const ACCESS: Readonly<Record<string, "read" | "write">> = { Read: "read", Edit: "write", Write: "write" };

/** A redirection reads or edits a file, an option may edit one, and a rule for the whole tool covers those too. */
function redirectionsHit(tool: string, { parts }: PreparedCall): Hit | undefined {
  const access = ACCESS[tool];
  const hit = parts.filter((part) => {
    if (part.kind === "redirection") return part.access === access;
    if (part.kind === "call" || access !== "write") return false;
    return part.command.effects?.some(({ does, doubtful }) => WRITES.has(does) && doubtful !== true) === true;
  });
  return hit.length === 0 ? undefined : { isSure: true, parts: hit };
}

function shellPathsHit({ tool, pattern }: Extract<Rule, { kind: "path" }>, call: PreparedCall): Hit | undefined {
  const access = ACCESS[tool];
  if (access === undefined) return undefined;
  if (call.mentions.some((place) => touches(pattern, place))) return { isSure: true, parts: call.parts };
  const redirections = call.parts
    .filter((part) => part.kind === "redirection")
    .filter((part) => part.access === access);
  const hit = redirections.filter(({ places }) => places.some((place) => touches(pattern, place)));
  if (hit.length > 0) return { isSure: true, parts: hit };
  const { more_mentions: isCut, vague = [], unclear = [] } = call.subject.shell ?? {};
  if (
    isCut === true ||
    vague.length + unclear.length > 0 ||
    call.searched.some((place) => place.access === access && reachesInto(pattern, place))
  )
    return { isSure: false, parts: call.parts };
  const unknown = redirections.filter(({ places }) => places.length === 0);
  return unknown.length === 0 ? undefined : { isSure: false, parts: unknown };
}

function pathsHit(pattern: PathPattern, { subject, parts, paths }: PreparedCall): Hit | undefined {
  if (paths.some((place) => touches(pattern, place))) return { isSure: true, parts };
  // A search reads everything below, and a call without a path may work anywhere.
  const reaches = subject.search === true && paths.some((place) => reachesInto(pattern, place));
  return reaches || paths.length === 0 ? { isSure: false, parts } : undefined;
}

/** Whether something below a directory may match. */
function reachesInto(pattern: PathPattern, { named, real }: LocatedNames): boolean {
  return [named, real].some((path) => matchPath(pattern, path, "restrict").reaches);
}

function touches(pattern: PathPattern, { named, real }: LocatedNames): boolean {
  return (
    matchPath(pattern, named, "restrict").matches || (named !== real && matchPath(pattern, real, "restrict").matches)
  );
}

/** Variables that change a program's output, never what it runs or where it writes. */
const HARMLESS =
  /^(?:CI|DEBUG|NODE_ENV|RAILS_ENV|LANG|LANGUAGE|LC_[A-Z]+|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|TERM|COLUMNS|LINES|RUST_LOG|RUST_BACKTRACE|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|GOOS|GOARCH)$/;

/** Whether a command may set this variable without a rule that says so. */
export function isHarmless(variable: string): boolean {
  return HARMLESS.test(variable);
}

/** Whether an allow rule or a grant covers a part of a call; matches as narrowly as possible. */
export function isCoveredBy(rule: Rule, part: CallPart, call: PreparedCall): boolean {
  const { subject } = call;
  switch (rule.kind) {
    case "any":
      return false;
    case "tool":
      if (speaksOf(rule.tool, subject.tool) || rule.written === subject.tool) return true;
      return part.kind === "redirection" && ACCESS[rule.tool] === part.access && rule.tool !== "Write";
    case "command":
      return (
        part.kind === "command" &&
        matchCommand(rule.pattern, part.spoken, "allow") === "yes" &&
        part.command.assignments.every(isHarmless)
      );
    case "path":
      if (part.kind === "redirection")
        return ACCESS[rule.tool] === part.access && rule.tool !== "Write" && holds(rule.pattern, part.places, false);
      return (
        part.kind === "call" && speaksOf(rule.tool, subject.tool) && holds(rule.pattern, call.paths, subject.search)
      );
    case "domain":
      return subject.tool === "WebFetch" && subject.domain !== undefined && isDomain(rule, subject.domain);
    case "mcp":
      if (rule.except?.includes(subject.tool) === true) return false;
      return (
        matchesGlob(rule.name, subject.tool) ||
        (rule.server !== undefined && subject.tool.startsWith(`${rule.server}__`))
      );
    case "subagent":
      return subject.tool === "Agent" && subject.subagent !== undefined && matchesGlob(rule.name, subject.subagent);
    case "skill":
      return subject.tool === "Skill" && subject.skill !== undefined && matchesGlob(rule.name, subject.skill);
  }
}

/** Whether an allow rule would cover a command, if it did not have options that a rule must name. */
export function coversWithoutOptions(rule: Rule, { spoken }: Extract<CallPart, { kind: "command" }>): boolean {
  return rule.kind === "command" && matchCommand(rule.pattern, { ...spoken, named: new Map() }, "allow") === "yes";
}

/** Whether every path matches; for a directory to be searched, everything in it must. */
function holds(pattern: PathPattern, places: readonly LocatedNames[], isSearch = false): boolean {
  return (
    places.length > 0 &&
    places.every(({ real }) => {
      const match = matchPath(pattern, real, "allow");
      return isSearch ? match.whole : match.matches;
    })
  );
}
