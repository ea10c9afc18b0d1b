import { scanOptions, type Option } from "./options.ts";
import type { Does } from "./effects/table.ts";
import { deeper, quoteExcerpt, type At, type ReadWord } from "./reading.ts";
import { runInside } from "./wrappers.ts";

/** Settings that name no program, file or further settings. */
const HARMLESS_SETTING =
  /^(?:color\.|advice\.|log\.|user\.(?:name|email)=|core\.(?:quotepath|autocrlf|safecrlf|abbrev|filemode|ignorecase)|init\.defaultbranch|commit\.gpgsign=false|tag\.gpgsign=false|diff\.(?:renames|algorithm|context|noprefix)|status\.|column\.|push\.default|pull\.(?:rebase|ff)|fetch\.prune|merge\.(?:ff|conflictstyle)|rebase\.(?:autosquash|autostash)|gc\.auto|grep\.(?:linenumber|extendedregexp))/i;

/** Options of git commands that name a program to run. */
const RUNS_OPTION =
  /^--(?:exec|upload-pack|receive-pack|extcmd|open-files-in-pager|ext-diff|tool|gui|(?:env|tree|index|parent|msg|commit|tag-name|subdirectory)-filter|template|config|exec-path|smtp-server|sendmail-cmd|to-cmd|cc-cmd|server-option|paginate-with|textconv|filters)(?:=|$)/;

const FLAGS =
  "no-pager bare no-replace-objects no-optional-locks literal-pathspecs glob-pathspecs noglob-pathspecs icase-pathspecs paginate version help".split(
    " ",
  );

function isHarmless({ name, value }: Option): boolean {
  return name !== "-c" || (value?.dynamic === false && HARMLESS_SETTING.test(value.text));
}

/** Lists what git runs, and notes when that can't be parsed. */
export function readGit(words: readonly ReadWord[], at: At): void {
  const scanned = scanOptions(
    words,
    1,
    {
      flags: "pPhv",
      values: "cC",
      longFlags: FLAGS,
      longValues: ["git-dir", "work-tree", "namespace"],
    },
    at,
  );
  if (scanned === undefined) return;
  if (!scanned.options.every(isHarmless))
    for (const [word, { text }] of words.slice(0, scanned.next).entries()) {
      const written = /^-[pPhv]*c/.exec(text)?.[0];
      if (written !== undefined) at.effects.push({ word, option: "-c", written, does: "runs a program" });
    }
  const [command, ...rest] = words.slice(scanned.next);
  if (command === undefined) return;
  if (command.dynamic) {
    at.notes.unclear.add(`What git does is only known when it runs, because of ${quoteExcerpt(command.source)}.`);
    return;
  }
  readCommand(command.text, rest, scanned.next + 1, at);
}

/** `start` is the index of the first word after the command's name. */
function readCommand(command: string, rest: readonly ReadWord[], start: number, at: At): void {
  if (command === "bisect" && rest[0]?.text === "run") {
    runInside("git bisect run", rest.slice(1), [], at, { kind: "unknown" });
    return;
  }
  if (command === "submodule" && rest.some(({ text }) => text === "foreach")) readForeach(rest, at);
  if (command === "filter-branch") at.notes.unclear.add("git filter-branch runs programs that are not analyzed here.");
  for (const [index, word] of rest.entries()) {
    if (!word.dynamic && word.text === "--") return;
    if (word.dynamic) {
      if (/^-|^$/.test(word.prefix) && mayRun(command)) unclearOption(command, word, at);
      continue;
    }
    const { text } = word;
    if (text.startsWith("ext::")) at.notes.unclear.add("git runs a program for an address that starts with ext::.");
    const script = command === "rebase" ? rebaseScript(text, rest[index + 1]) : undefined;
    if (script !== undefined) readScript(script, at);
    else if (RUNS_OPTION.test(text) || isShortened(text)) runs(text.replace(/=.*$/s, ""), "runs a program");
    else if (isShort(SHORT_RUNS, command, text)) runs(text, "runs a program");
    else if (isShort(SHORT_WRITES, command, text)) runs(text, "writes a file");

    function runs(written: string, does: Does): void {
      at.effects.push({ word: start + index, option: written, written, does });
    }
  }
}

/** `git rebase -x 'npm test'`. */
function rebaseScript(text: string, following: ReadWord | undefined): ReadWord | undefined {
  if (text === "-x" || text === "--exec") return following;
  const attached = /^(?:-x|--exec=)(.+)$/s.exec(text)?.[1];
  return attached === undefined
    ? undefined
    : { text: attached, source: attached, prefix: attached, dynamic: false, splits: false };
}

function readScript(word: ReadWord, at: At): void {
  const inside = deeper(at, "git rebase --exec");
  if (word.dynamic) at.notes.unclear.add(`git runs ${quoteExcerpt(word.source)}, which is only known when it runs.`);
  else if (inside !== undefined) at.text(word.text, inside);
}

function readForeach(rest: readonly ReadWord[], at: At): void {
  const start = rest.findIndex(({ text }) => text === "foreach") + 1;
  const inner = rest.slice(start).filter(({ text }) => text !== "--recursive" && text !== "--quiet" && text !== "-q");
  const inside = deeper(at, "git submodule foreach");
  if (inner.some(({ dynamic }) => dynamic)) at.notes.unclear.add("It is unclear what git submodule foreach runs.");
  else if (inside !== undefined) at.text(inner.map(({ text }) => text).join(" "), inside);
}

/** git accepts any unambiguous abbreviation of a long option. */
function isShortened(text: string): boolean {
  return (
    /^--(?:exe|upl|upload-|rec(?!u)|receive|extc|open|ext-d|smt|send|to-c|cc-c)/.test(text) &&
    !/^--exec-path$/.test(text)
  );
}

/** Short options that name a program, per command. */
const SHORT_RUNS: Readonly<Record<string, string>> = {
  clone: "uc",
  difftool: "xt",
  grep: "O",
  mergetool: "t",
  rebase: "x",
};
/** Short options that name a file or directory to write. */
const SHORT_WRITES: Readonly<Record<string, string>> = { archive: "o", "format-patch": "o" };

function isShort(letters: Readonly<Record<string, string>>, command: string, text: string): boolean {
  const own = Object.hasOwn(letters, command) ? letters[command] : undefined;
  return own !== undefined && new RegExp(`^-[A-Za-z]*[${own}]`).test(text);
}

function mayRun(command: string): boolean {
  return [
    "clone",
    "difftool",
    "fetch",
    "grep",
    "ls-remote",
    "mergetool",
    "pull",
    "push",
    "rebase",
    "submodule",
  ].includes(command);
}

function unclearOption(command: string, word: ReadWord, at: At): void {
  at.notes.unclear.add(`With ${quoteExcerpt(word.source)} git ${command} may run a program.`);
}
