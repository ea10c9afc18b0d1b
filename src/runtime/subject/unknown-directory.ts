import { acts } from "../../core/permission/protected/in-call.ts";
import type { CallSubject, ShellSubject } from "../../core/rules/subject.ts";
import { KNOWN_DIRECTORY } from "../shell/bases.ts";
import { isMove } from "../shell/returns.ts";
import type { Guarded, GuardedPlaces } from "./guard-call.ts";
import { childrenOf } from "../protected/look.ts";

type Command = ShellSubject["commands"][number];
type Word = Command["words"][number];

/**
 * What a command writes in a directory that is only known when it runs may be anything that lies in one, in Capstan's
 * home too: after `cd -` or `cd "$x"`, with `tar -C "$x"`, or by a name such as `"$x/config.yaml"`.
 */
export function inUnknownDirectory({ shell }: CallSubject, { capstanHome }: GuardedPlaces): Guarded[] {
  if (shell === undefined) return [];
  const { commands, writes, lost } = shell;
  const following = lost === undefined ? [] : commands.slice(lost.from).filter((one) => !isMove(one));
  if (lost !== undefined && (writes.some(({ text }) => mayBeRelative(text)) || following.some(writesHere)))
    return guarded(`what is in the directory that ${lost.by} may lead to`);
  const elsewhere = commands.find((one) => acts(one) && isElsewhere(one) && writesHere(one));
  if (elsewhere !== undefined) return guarded(`what is in the directory that \`${nameOf(elsewhere)}\` may work in`);
  const own = ["config.yaml", ...childrenOf(capstanHome).filter((name) => !FOR_AGENTS.includes(name))];
  const named = [
    ...writes.flatMap(({ text, places }) => (places.length === 0 ? [text] : [])),
    ...commands.filter(acts).flatMap(({ words }) => words.flatMap(({ text, dynamic }) => (dynamic ? [text] : []))),
  ].find((text) => own.includes(nameInUnknown(text)));
  return named === undefined ? [] : guarded(named);
}

/** Where Capstan keeps what agents work on. Names that are as usual elsewhere. */
const FOR_AGENTS = ["workspaces", "sessions", "files", "outputs"];

function guarded(path: string): Guarded[] {
  return [{ path, pattern: "$CAPSTAN_HOME/" }];
}

/** Whether a command may write a file that it names without saying where that is. */
function writesHere(command: Command): boolean {
  const [, ...words] = command.words;
  return acts(command) && !onlyRuns(command) && words.some(({ text }) => mayBeRelative(text));
}

/** Absolute paths and options without a value name nothing here. */
function mayBeRelative(text: string): boolean {
  return !/^(?:\/.*|-\w|--[\w-]+)$/s.test(text);
}

/** Programs whose plain words are names of tasks, and not of files that they write. */
const RUNNERS = /^(?:npm|pnpm|yarn|bun|make|cargo|go|git|gh|pytest|tox|mvn|gradle|gradlew|dotnet)$/;
/** Of git, these write what the repository says, and nothing that their words name. */
const GIT_TASKS = /^(?:add|branch|commit|fetch|merge|pull|push|rebase|stash|status|tag)$/;

/** Whether a program only runs a task of the project, such as `npm run build` or `git commit -m x`. */
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

/** How programs call the option that says in which directory they work. */
const DIRECTORY_OPTION = /^(?:-C|--directory|--chdir|--cwd|--target-directory)$/;
const WITH_DIRECTORY = /^(?:-C(?=.)|--(?:directory|chdir|cwd|target-directory)=)/;
/** Short options that mean this to some programs alone. */
const OF_PROGRAMS: Readonly<Record<string, RegExp>> = { "-t": /^(?:cp|mv|ln|install)$/, "-D": /^sudo$/ };

/** Whether a command works in a directory that only its run will show. */
function isElsewhere({ words, via }: Command): boolean {
  return (
    /^find -(?:execdir|okdir)$/.test(via.at(-1) ?? "") ||
    words.some(({ dynamic }, at) => dynamic && !KNOWN_DIRECTORY.test(directoryIn(words, at) ?? "~"))
  );
}

/** The directory that a word gives to an option before it, or in it; undefined when it gives none. */
function directoryIn(words: readonly Word[], at: number): string | undefined {
  const text = words[at]?.text ?? "";
  const option = words[at - 1]?.text ?? "";
  const isGiven = DIRECTORY_OPTION.test(option) || OF_PROGRAMS[option]?.test(nameIn(words[0]?.text ?? "")) === true;
  if (isGiven) return text;
  return WITH_DIRECTORY.test(text) ? text.replace(WITH_DIRECTORY, "") : undefined;
}

/** The first name below what is only known when the command runs: `config.yaml` of `"$x/config.yaml"`. */
function nameInUnknown(text: string): string {
  if (KNOWN_DIRECTORY.test(text)) return "";
  return /^["']?(?:\$\w+|\$\{[^}]*\}|\$\(.*\)|`[^`]*`)["']?\/+([^/"'$`]+)/s.exec(text)?.[1] ?? "";
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
