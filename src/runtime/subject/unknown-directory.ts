import { basename, join, resolve } from "node:path";
import { isInside } from "../../core/paths/is-inside.ts";
import { actionOf, acts } from "../../core/permission/protected/in-call.ts";
import type { CallSubject, ShellSubject } from "../../core/rules/subject.ts";
import { KNOWN_DIRECTORY } from "../shell/base-directories.ts";
import { isAtHome } from "../shell/homes.ts";
import { isMove } from "../shell/directory-moves.ts";
import type { Guarded, GuardedPaths } from "./guard-call.ts";
import { childrenOf } from "../protected/children-of.ts";

type Command = ShellSubject["commands"][number];
type Word = Command["words"][number];

/**
 * A command in a directory known only at run time may write anything in it, including in Capstan's home: after `cd -`
 * or `cd "$x"`, with `tar -C "$x"`, or through a name such as `"$x/config.yaml"`.
 */
export function inUnknownDirectory(
  { shell, workspace }: CallSubject,
  line: string,
  { capstanHome }: GuardedPaths,
): Guarded[] {
  if (shell === undefined) return [];
  const { commands, writes, lost } = shell;
  const following = lost === undefined ? [] : commands.slice(lost.from).filter((one) => !isMove(one));
  if (lost !== undefined && (writes.some(({ text }) => mayBeRelative(text)) || following.some(writesHere)))
    return guardEntries(`anything in the directory that ${lost.by} may lead to`);
  const elsewhere = commands.find((one) => acts(one) && isElsewhere(one) && writesHere(one));
  if (elsewhere !== undefined)
    return guardEntries(`anything in the directory that \`${nameOf(elsewhere)}\` may work in`);
  if (actionOf(shell) !== "reads" && (commands.some(isFromHome) || HOME_CUT.test(line)))
    return guardEntries("a path derived from HOME");
  const own = ["config.yaml", ...childrenOf(capstanHome).filter((name) => !FOR_AGENTS.includes(name))];
  const named = [
    ...writes.flatMap(({ text, places }) => (places.length === 0 ? [text] : [])),
    ...commands.filter(acts).flatMap(({ words }) => words.flatMap(({ text, dynamic }) => (dynamic ? [text] : []))),
  ].find((text) => mayNameOwn(text, { own, capstanHome, workspace }));
  return named === undefined ? [] : guardEntries(named);
}

/** Parts of Capstan's home that agents work on. These names are just as common elsewhere. */
const FOR_AGENTS = ["workspaces", "sessions", "files", "outputs"];

function guardEntries(path: string): Guarded[] {
  return [{ path, pattern: "$CAPSTAN_HOME/" }];
}

/** Whether a command may write a file that it names by a relative path. */
function writesHere(command: Command): boolean {
  const [, ...words] = command.words;
  return acts(command) && !onlyRuns(command) && words.some(({ text }) => mayBeRelative(text));
}

/** Absolute paths and options without a value are not relative names. */
function mayBeRelative(text: string): boolean {
  return !/^(?:\/.*|-\w|--[\w-]+)$/s.test(text);
}

/** Programs whose plain arguments are tasks, not files that they write. */
const RUNNERS = /^(?:npm|pnpm|yarn|bun|make|cargo|go|git|gh|pytest|tox|mvn|gradle|gradlew|dotnet)$/;
/** These git commands write what the repository defines, not what their arguments name. */
const GIT_TASKS = /^(?:add|branch|commit|fetch|merge|pull|push|rebase|stash|status|tag)$/;

/** Whether a command only runs a project task, such as `npm run build` or `git commit -m x`. */
function onlyRuns({ words: [program, ...rest] }: Command): boolean {
  if (program === undefined || program.dynamic || !RUNNERS.test(nameIn(program.text))) return false;
  const isGit = nameIn(program.text) === "git";
  const tasks = rest.filter(
    ({ text }, at) =>
      !DIRECTORY_OPTION.test(text) &&
      directoryIn(rest, at) === undefined &&
      !(isGit && /^-[a-zA-Z]*m$/.test(rest[at - 1]?.text ?? "")),
  );
  const [task] = tasks.filter(({ text }) => !text.startsWith("-"));
  if (isGit && !GIT_TASKS.test(task?.text ?? "")) return false;
  return tasks.every(({ text, dynamic }, at) => {
    if (text.startsWith("-")) return !dynamic && !text.includes("=") && !/^-[a-zA-Z]*[of]/.test(text);
    return !dynamic && /^(?:[\w:-]+|\.)$/.test(text) && !(tasks[at - 1]?.text ?? "").startsWith("-");
  });
}

/** Options that set a program's working directory. */
const DIRECTORY_OPTION = /^(?:-C|--directory|--chdir|--cwd|--target-directory)$/;
const WITH_DIRECTORY = /^(?:-C(?=.)|--(?:directory|chdir|cwd|target-directory)=)/;
/** Short options that mean this only for some programs. */
const OF_PROGRAMS: Readonly<Record<string, RegExp>> = { "-t": /^(?:cp|mv|ln|install)$/, "-D": /^sudo$/ };

/** Whether a command works in a directory known only at run time. */
function isElsewhere({ words, via }: Command): boolean {
  return (
    /^find -(?:execdir|okdir)$/.test(via.at(-1) ?? "") ||
    words.some(({ dynamic }, at) => dynamic && !KNOWN_DIRECTORY.test(directoryIn(words, at) ?? "~"))
  );
}

/** The directory that an option sets in this word or the next; undefined if none. */
function directoryIn(words: readonly Word[], at: number): string | undefined {
  const text = words[at]?.text ?? "";
  const option = words[at - 1]?.text ?? "";
  const isGiven = DIRECTORY_OPTION.test(option) || OF_PROGRAMS[option]?.test(nameIn(words[0]?.text ?? "")) === true;
  if (isGiven) return text;
  return WITH_DIRECTORY.test(text) ? text.replace(WITH_DIRECTORY, "") : undefined;
}

/** Text that is replaced only at run time. */
const UNKNOWN = /\$\(.*\)|`[^`]*`|\$\{[^}]*\}|\$(?:\w+|[@*])|~-|~[-+]?\d+|\{\}/gs;

/** Whether a path with an unknown part may be Capstan's: `"$x/config.yaml"`, `$x/../config.yaml`, `../$x/trust`. */
function mayNameOwn(text: string, { own, capstanHome, workspace }: Own): boolean {
  if (KNOWN_DIRECTORY.test(text)) return false;
  const names = text
    .replaceAll(UNKNOWN, "\0")
    .replace(/^-{0,2}[\w-]+=/, "")
    .replaceAll(/["']/g, "")
    .split("/");
  const at = names.findIndex((name) => name.includes("\0"));
  if (at < 0) return false;
  const before = resolve(workspace, `${names.slice(0, at).join("/")}/`);
  if (at > 0 && !isInside(capstanHome, before)) return false;
  const below = join("/", ...names.slice(at + 1))
    .split("/")
    .filter((name) => name !== "");
  const isOwn = (name: string | undefined): boolean => name !== undefined && own.includes(name);
  const home = below.lastIndexOf(basename(capstanHome));
  return isOwn(below[0]) || (home >= 0 && (home === below.length - 1 || isOwn(below[home + 1])));
}

interface Own {
  /** Names in Capstan's home. */
  readonly own: readonly string[];
  readonly capstanHome: string;
  readonly workspace: string;
}

/** Also in an assignment, which is not a command. */
const HOME_CUT = /\$\{!?HOME[^}\w]/;

/** The HOME of commands is inside Capstan's home, so paths derived from it may lead there. */
function isFromHome({ words, via }: Command): boolean {
  return via.includes("$(…)") && words.some(isAtHome);
}

function nameOf({ words, via }: Command): string {
  return (
    via.at(-1) ??
    words
      .slice(0, 3)
      .map(({ text }) => text)
      .join(" ")
  );
}

function nameIn(program: string): string {
  return program.replace(/^.*\//, "");
}
