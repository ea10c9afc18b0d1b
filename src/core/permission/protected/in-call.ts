import type { ShellWord } from "../../shell/read-commands.ts";
import { SED_ACTS } from "../../shell/sed.ts";
import type { CallSubject, NamedPath, ShellSubject } from "../../rules/subject.ts";
import { configures, onlyReads } from "./commands.ts";
import { protectedRow, rowOfPath, rowOfPattern, rowOfText } from "./match.ts";
import type { ProtectedRow } from "./table.ts";

/** Why a call always needs a person. */
export interface ProtectedHit {
  /** The row of the table. */
  readonly pattern: string;
  readonly reason: string;
}

/** Whether a question is about configuration: only a person who has seen it can answer. */
export function isAboutConfiguration(askedBy: string): boolean {
  return askedBy.startsWith("protected:");
}

/** The configuration that a call could write; undefined if there is none, as far as the call shows. */
export function protectedIn(subject: CallSubject): ProtectedHit | undefined {
  const { paths, shell, guarded = [] } = subject;
  for (const { named, real, access } of paths) {
    const row = access === "write" ? rowOfNamedPath({ named, real }, subject) : undefined;
    if (row !== undefined) return hit(row, named);
  }
  const [known] = guarded;
  if (known !== undefined) return hit(protectedRow(known.pattern), known.path);
  return shell && inShell(shell, subject);
}

/** Whether some command of a line does more than read, and whether its targets are known only when it runs. */
export function actionOf({ commands, writes, unclear }: ShellSubject): "reads" | "acts" | "open" {
  const acting = commands.filter(acts);
  if (unclear.length > 0 || writes.some(({ places }) => places.length === 0)) return "open";
  if (acting.some(({ words }) => words.some(({ dynamic }) => dynamic))) return "open";
  return acting.length === 0 ? "reads" : "acts";
}

/** A program that only reads may have an option that writes, such as `git log --output`. */
export function acts({ words, effects = [] }: ShellSubject["commands"][number]): boolean {
  return effects.length > 0 || !onlyReads(words);
}

function inShell(shell: ShellSubject, subject: CallSubject): ProtectedHit | undefined {
  for (const { text, places } of shell.writes) {
    const row =
      first(places, (place) => rowOfNamedPath(place, subject)) ??
      rowOfWord({ text, dynamic: places.length === 0 }, subject);
    if (row !== undefined) return hit(row, text);
  }
  const acting = shell.commands.filter(acts);
  for (const { words } of acting) {
    const what = configures(words);
    if (what !== undefined) return { pattern: "commands", reason: `${what} ${ALWAYS}` };
  }
  const action = actionOf(shell);
  if (action === "reads") return undefined;
  // If one word is known only when the command runs, it may come from any other word of the line.
  const isOpen = action === "open";
  const read = isOpen ? shell.commands : shell.commands.filter((one) => acting.includes(one) || isChange(one));
  for (const word of read.flatMap(({ words }) => words.filter((_, at) => !isLeftOut(words, at)))) {
    const row = rowOfWord(word, subject);
    if (row !== undefined) return hit(row, word.text);
  }
  for (const text of acting.flatMap(scriptsOf)) {
    const row = rowOfText(text, subject);
    if (row !== undefined) return hit(row, text);
  }
  for (const place of shell.mentions) {
    const isLink = place.named !== place.real && rowOfPath(place.named, subject) === undefined;
    const row = isOpen || isLink ? rowOfNamedPath(place, subject) : undefined;
    if (row !== undefined) return hit(row, place.named);
  }
  return undefined;
}

/** The command or flag of sed that writes a file, right before its name. */
const W_FILE = /(?<![A-Za-z])[gpiIemM0-9]*[wW](?=[.~/])/g;

/** Scripts of sed that write a file, with a blank before its name, which sed does without. */
export function scriptsOf({ words, effects = [] }: ShellSubject["commands"][number]): string[] {
  return effects
    .filter(({ option }) => option === SED_ACTS)
    .map(({ word }) => (words[word]?.text ?? "").replaceAll(W_FILE, "w "));
}

/** Whatever follows happens in that directory. */
function isChange({ words }: ShellSubject["commands"][number]): boolean {
  return /^(?:cd|pushd)$/.test(words[0]?.text ?? "");
}

/** Options for what to ignore, and for messages about a change. */
const NO_PATH_OPTION = /^(?:--(?:exclude|exclude-dir|ignore|ignore-path|message|title|body|notes)|-[a-zA-Z]*m)$/;
const NO_PATH_VALUE = /^--(?:exclude|exclude-dir|ignore|ignore-path|message|title|body|notes)=/;

/** Whether a word names no file to be written, whatever it contains. */
export function isLeftOut(words: readonly ShellWord[], at: number): boolean {
  const before = words[at - 1]?.text ?? "";
  const takesMessage = before.startsWith("--") || /^(?:.*\/)?(?:git|gh|glab|hg|svn)$/.test(words[0]?.text ?? "");
  return NO_PATH_VALUE.test(words[at]?.text ?? "") || (NO_PATH_OPTION.test(before) && takesMessage);
}

function rowOfWord({ text, dynamic }: ShellWord, subject: CallSubject): ProtectedRow | undefined {
  return dynamic ? rowOfPattern(text, subject) : rowOfText(text, subject);
}

function rowOfNamedPath({ named, real }: NamedPath, subject: CallSubject): ProtectedRow | undefined {
  return rowOfPath(named, subject) ?? rowOfPath(real, subject);
}

function first<Item, Found>(items: readonly Item[], look: (item: Item) => Found | undefined): Found | undefined {
  for (const item of items) {
    const found = look(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

const ALWAYS = "This always needs approval, and the answer is not remembered.";
const SHOWN_LENGTH = 200;

function hit({ pattern, readBy, why }: ProtectedRow, path: string): ProtectedHit {
  const shown = path.length > SHOWN_LENGTH ? `${path.slice(0, SHOWN_LENGTH)}…` : path;
  return { pattern, reason: `${readBy} reads ${shown} as configuration (${why}). ${ALWAYS}` };
}
