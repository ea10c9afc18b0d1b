import { join, resolve } from "node:path";
import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import { isInside } from "../../core/paths/is-inside.ts";
import { actionOf } from "../../core/permission/protected/in-call.ts";
import { rowOfPath, rowOfText } from "../../core/permission/protected/match.ts";
import { UNNAMED_REPOSITORY } from "../../core/permission/protected/table.ts";
import type { CallSubject, NamedPath } from "../../core/rules/subject.ts";
import { readCommands } from "../../core/shell/read-commands.ts";
import type { CalledTool } from "./call-subject.ts";
import { realPath } from "../paths/real-path.ts";
import { gitDirectories } from "../protected/sandbox.ts";
import { Names } from "../paths/path-names.ts";
import { basesOf } from "../shell/base-directories.ts";
import { commandLine } from "./command-line.ts";
import { isMove } from "../shell/directory-moves.ts";
import { agentPrograms, isAgentFile } from "../protected/agent-files.ts";
import { tellsGit } from "../protected/git-layout.ts";
import { inListed } from "./listed-files.ts";
import { childrenOf, sameFile } from "../protected/children-of.ts";
import { inPieces } from "./name-pieces.ts";
import { inUnknownDirectory } from "./unknown-directory.ts";

/** Protected paths that cannot be recognized by name. Absolute, with links resolved. */
export interface GuardedPaths {
  readonly capstanHome: string;
  /** Where git keeps the workspace's data. */
  readonly gitDirectories: readonly string[];
  /** Programs and modules of the session's agent: hooks, functions, servers. */
  readonly programs: readonly string[];
}

export function guardedPaths({
  cwd,
  agent,
  capstanHome,
}: {
  readonly cwd: string;
  readonly agent: AgentDefinition;
  readonly capstanHome: string;
}): GuardedPaths {
  const workspace = realPath(cwd);
  return {
    capstanHome: realPath(capstanHome),
    // Paths inside the workspace are recognized by name.
    gitDirectories: gitDirectories(workspace)
      .map((path) => realPath(path))
      .filter((path) => !isInside(path, workspace)),
    programs: agentPrograms(agent, workspace),
  };
}

export type Guarded = NonNullable<CallSubject["guarded"]>[number];

/**
 * Adds configuration that a call could change although its words do not show it: paths that only the host knows, other
 * names of a file, directories that contain configuration, and paths anywhere in the input of a tool that is not built
 * in.
 */
export function guardCall(subject: CallSubject, call: CalledTool, places: GuardedPaths): CallSubject {
  const { tool, input, engineTool = true } = call;
  const guarded = [
    ...writtenPaths(subject).flatMap((place) => guardsOf(place, subject, places)),
    ...(tool === "Bash" && engineTool ? inCommand(subject, commandLine(call), places) : []),
    ...(isOther(subject, engineTool) ? textsIn(input).flatMap((text) => inText(text, subject, places)) : []),
  ];
  return guarded.length === 0 ? subject : { ...subject, guarded: guarded.slice(0, 1) };
}

function writtenPaths({ paths, shell }: CallSubject): readonly NamedPath[] {
  const written = paths.filter(({ access }) => access === "write");
  if (shell === undefined) return written;
  const mentioned = actionOf(shell) === "reads" ? [] : shell.mentions;
  return [...written, ...shell.writes.flatMap(({ places }) => places), ...mentioned];
}

function guardsOf({ named, real }: NamedPath, subject: CallSubject, places: GuardedPaths): Guarded[] {
  const pattern = patternOf(named, subject, places) ?? patternOf(real, subject, places);
  if (pattern !== undefined) return [{ path: named, pattern }];
  const twin = sameFile(real, () => protectedFiles(subject, places));
  const row = twin === undefined ? undefined : rowOfPath(twin, subject);
  if (twin !== undefined) return [{ path: `${named} (another name of ${twin})`, pattern: row?.pattern ?? "$AGENT" }];
  return mayMove(named, subject) ? inDirectory(real, subject, places) : [];
}

function patternOf(path: string, subject: CallSubject, places: GuardedPaths): Guarded["pattern"] | undefined {
  const { workspace, shell_home: shellHome } = subject;
  const { capstanHome, gitDirectories, programs } = places;
  // A copy's workspace and the HOME of commands are inside Capstan's home. Configuration there is recognized by name.
  const isOwn = [workspace, shellHome].some(
    (own) => own !== undefined && isInside(own, capstanHome) && isInside(path, own),
  );
  if (isInside(path, capstanHome) && !isOwn) return "$CAPSTAN_HOME/";
  if (gitDirectories.some((directory) => isInside(path, directory))) return "$GIT_DIR/";
  if (programs.includes(path) || isAgentFile(path)) return "$AGENT";
  return rowOfPath(path, subject) === undefined && tellsGit(path) ? UNNAMED_REPOSITORY : undefined;
}

const MOVERS = /^(?:mv|rm|rmdir|unlink|rename|chmod|chown|ln|rsync|trash)$/;

/** Whether a command that moves, removes or changes the mode of what it names could name this path. */
function mayMove(path: string, { shell, workspace }: CallSubject): boolean {
  const programs =
    shell?.commands.map(({ words: [program, ...rest] }) => ({ name: nameOf(program?.text), rest })) ?? [];
  const isHere = programs.every(({ name }) => !/^(?:cd|pushd|popd)$/.test(name));
  return programs
    .filter(({ name }) => MOVERS.test(name))
    .some(({ rest }) => rest.some((word) => !isHere || mayName(word, path, workspace)));
}

function mayName({ text, dynamic }: { text: string; dynamic: boolean }, path: string, workspace: string): boolean {
  const isPlain = !dynamic && !/^[-~]/.test(text);
  return isPlain ? resolve(workspace, text) === path : dynamic || text.startsWith("~") || /[/=.]/.test(text);
}

function nameOf(program = ""): string {
  return program.replace(/^.*\//, "");
}

/** Moving or removing a directory also moves or removes the configuration in it. */
function inDirectory(path: string, subject: CallSubject, places: GuardedPaths): Guarded[] {
  const { capstanHome, programs } = places;
  if (isInside(capstanHome, path)) return [{ path, pattern: "$CAPSTAN_HOME/" }];
  if (isInside(subject.workspace, path)) return [{ path, pattern: "**/.capstan/" }];
  if (programs.some((program) => isInside(program, path))) return [{ path, pattern: "$AGENT" }];
  return inTop(path, subject);
}

/** Configuration of Capstan's that lies in a directory. */
function inTop(directory: string, subject: CallSubject): Guarded[] {
  const child = childrenOf(directory)
    .map((name) => join(directory, name))
    .find((file) => rowOfPath(file, subject)?.readBy === "Capstan");
  const pattern = child && rowOfPath(child, subject)?.pattern;
  return child === undefined || pattern === undefined ? [] : [{ path: child, pattern }];
}

/** Configuration directories in a workspace. */
const HOLDING = [".capstan", ".claude", ".husky", ".git", ".git/hooks", ".git/info", ".vscode", ".idea"];

/** Files that the agent could have given another name. */
function protectedFiles(subject: CallSubject, { capstanHome, programs }: GuardedPaths): readonly string[] {
  const { workspace } = subject;
  const directories = [workspace, ...HOLDING.map((name) => join(workspace, name))];
  const named = directories
    .flatMap((directory) => childrenOf(directory).map((name) => join(directory, name)))
    .filter((file) => rowOfPath(file, subject) !== undefined);
  return [...named, ...childrenOf(capstanHome).map((name) => join(capstanHome, name)), ...programs];
}

function inCommand(subject: CallSubject, line: string | undefined, places: GuardedPaths): Guarded[] {
  const { shell, workspace, home, shell_home: shellHome } = subject;
  if (line === undefined || shell === undefined) return [];
  const names = new Names({ cwd: workspace, home, shellHome });
  const bases = shell.commands.some(isMove) ? basesOf(readCommands(line), line, names).bases : [workspace];
  return [
    ...inPieces(subject, line, { bases, places }),
    ...inUnknownDirectory(subject, line, places),
    ...inListed(subject, bases, places),
    ...(shell.commands.some(takesUntracked) ? inTop(subject.workspace, subject) : []),
  ];
}

/** Whether git removes files that it does not know, or puts them away. */
function takesUntracked({ words: [program, ...rest] }: NonNullable<CallSubject["shell"]>["commands"][number]): boolean {
  const texts = rest.map(({ text }) => text);
  if (nameOf(program?.text) !== "git") return false;
  if (texts.includes("clean")) return !texts.some((text) => /^(?:-[a-zA-Z]*n[a-zA-Z]*|--dry-run)$/.test(text));
  return texts.includes("stash") && texts.some((text) => /^(?:-[a-zA-Z]*[ua]|--include-untracked|--all)/.test(text));
}

function isOther({ tool }: CallSubject, engineTool: boolean): boolean {
  return !engineTool || tool.startsWith("mcp__");
}

function inText(text: string, subject: CallSubject, places: GuardedPaths): Guarded[] {
  const row = rowOfText(text, subject);
  if (row !== undefined) return [{ path: text, pattern: row.pattern }];
  if (text.length > MAX_PATH || /[\n\0]/.test(text)) return [];
  const named = resolve(subject.workspace, text);
  const real = realPath(named);
  const found = rowOfPath(real, subject);
  return found === undefined ? guardsOf({ named, real }, subject, places) : [{ path: text, pattern: found.pattern }];
}

/** The longest path on Linux. */
const MAX_PATH = 4_096;

/** Input nested deeper than this cannot be reviewed by a person. */
const MAX_DEPTH = 32;

/** All strings in an input, including its keys. */
function textsIn(value: unknown, depth = 0): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null || depth > MAX_DEPTH) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...textsIn(inner, depth + 1)]);
}
