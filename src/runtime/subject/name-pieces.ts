import { dirname } from "node:path";
import { isInside } from "../../core/paths/is-inside.ts";
import { acts, actionOf, isLeftOut, scriptsOf } from "../../core/permission/protected/in-call.ts";
import { piecesOf, rowOfText } from "../../core/permission/protected/match.ts";
import type { CallSubject } from "../../core/rules/subject.ts";
import { Names } from "../paths/path-names.ts";
import { looksLikePath } from "../shell/paths-in.ts";
import type { Guarded, GuardedPaths } from "./guard-call.ts";

/** At most this many pieces of a line are checked. */
const MAX_PIECES = 200;
/** `${x:-`, `${x#` and other prefixes of text in such an expansion, and its end. */
const EXPANSION = /\$\{[!#]?\w*(?:\[[^\]]*\])?(?::?[-=+?]|[#%/^,]{1,2}|:)?|\}/g;

/**
 * Configuration named inside a word: in a sed or awk script, a list, an array, a here-string or a variable's default. A
 * line that is only partly known is searched as text.
 */
export function inPieces(subject: CallSubject, line: string, { bases, places }: Around): Guarded[] {
  const { shell } = subject;
  const action = shell === undefined ? "reads" : actionOf(shell);
  if (shell === undefined || action === "reads") return [];
  const bare = line.replaceAll(/["'\\]/g, "");
  const isText = action === "open" || (line.includes("<<") && shell.commands.some(readsNames));
  const row = isText ? firstRow([bare, line, bare.replaceAll(EXPANSION, "")], subject) : undefined;
  if (row !== undefined) return [{ path: "something in the command", pattern: row }];
  const texts = isText ? [bare, line, bare.replaceAll(EXPANSION, "")] : wordsOf(shell.commands);
  const pieces = new Set(texts.flatMap((text) => [...piecesOf(text)]).filter(isPath));
  const names = new Names({ cwd: subject.workspace, home: subject.home, shellHome: subject.shell_home });
  for (const piece of [...pieces].slice(0, MAX_PIECES))
    for (const base of bases)
      for (const { named, real } of names.places(piece, base)) {
        const pattern = guardedPathOf(named, subject, places) ?? guardedPathOf(real, subject, places);
        if (pattern !== undefined) return [{ path: piece, pattern }];
      }
  return [];
}

interface Around {
  /** The directories that the line may run in. */
  readonly bases: readonly string[];
  readonly places: GuardedPaths;
}

function firstRow(texts: readonly string[], subject: CallSubject): string | undefined {
  for (const text of texts) {
    const row = rowOfText(text, subject);
    if (row !== undefined) return row.pattern;
  }
  return undefined;
}

type Command = NonNullable<CallSubject["shell"]>["commands"][number];

function wordsOf(commands: readonly Command[]): string[] {
  return commands
    .filter(acts)
    .flatMap((one) => [
      ...one.words.flatMap(({ text }, at) => (isLeftOut(one.words, at) ? [] : [text])),
      ...scriptsOf(one),
    ]);
}

/** Programs that are told on their input which files to write. */
const READS_NAMES = /^(?:patch|g?make|ed|ex|vim?|xargs|cpio|(?:bsd|g)?tar|rsync|parallel)$/;

function readsNames({ words: [program, ...rest] }: Command): boolean {
  const name = program?.text.replace(/^.*\//, "") ?? "";
  return READS_NAMES.test(name) || (name === "git" && rest.some(({ text }) => /^(?:apply|am)$/.test(text)));
}

function isPath(piece: string): boolean {
  return piece.includes("/") && piece.length < 4_096 && looksLikePath(piece);
}

/** Whether a path leads to something that only the host knows, or is the beginning of the path of Capstan's home. */
function guardedPathOf(path: string, subject: CallSubject, places: GuardedPaths): string | undefined {
  const { capstanHome, gitDirectories } = places;
  const isOwn = [subject.workspace, subject.shell_home].some((own) => own !== undefined && isInside(path, own));
  if (isOwn) return undefined;
  const isBeginning = capstanHome.startsWith(path) && path.length > dirname(capstanHome).length + 1;
  if (isBeginning || isInside(path, capstanHome)) return "$CAPSTAN_HOME/";
  return gitDirectories.some((directory) => isInside(path, directory)) ? "$GIT_DIR/" : undefined;
}
