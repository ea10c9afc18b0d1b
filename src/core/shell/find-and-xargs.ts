import { scanOptions, type Options } from "./options.ts";
import { literal, quoteExcerpt, unknownWords, type At, type ReadWord } from "./reading.ts";
import { runInside } from "./wrappers.ts";

const RUNS = new Set(["-exec", "-execdir", "-ok", "-okdir"]);
/** Tests of find that take one word, which may be anything. */
const TESTS = new Set(
  `-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -newer -anewer -cnewer -mtime -atime -ctime
  -mmin -amin -cmin -maxdepth -mindepth -user -group -uid -gid -perm -inum -links -samefile -used -fstype -regextype -printf -context`.split(
    /\s+/,
  ),
);

/** Lists what `find` runs for the files it finds. */
export function readFind(words: readonly ReadWord[], at: At): void {
  let index = 1;
  const ends = words.some(({ text, dynamic }) => !dynamic && (text === ";" || text === "+"));
  while (index < words.length) {
    const word = words[index];
    if (word === undefined) break;
    index += 1;
    if (word.dynamic) {
      // A file name from a glob such as src/* is not an option; anything else might be -exec, if a command follows.
      const path = word.prefix !== "" && /^[^-(!,]/.test(word.prefix) && !/\$|`/.test(word.source);
      if (!path && (word.splits || ends))
        at.notes.unclear.add(`${quoteExcerpt(word.source)} may be something that find runs.`);
      continue;
    }
    if (RUNS.has(word.text)) index = readExec(word.text, words, index, at);
    else if (TESTS.has(word.text) || word.text.startsWith("-newer")) {
      if (words[index]?.splits === true) at.notes.unclear.add(`It is unclear what find runs, because of ${word.text}.`);
      index += 1;
    }
  }
}

function readExec(action: string, words: readonly ReadWord[], start: number, at: At): number {
  let end = start;
  while (end < words.length) {
    const word = words[end];
    // A word that splits may contain the end itself, and another action after it.
    if (word?.splits === true) at.notes.unclear.add(`It is unclear what find ${action} runs.`);
    if (word?.dynamic === false && (word.text === ";" || (word.text === "+" && words[end - 1]?.text === "{}"))) break;
    end += 1;
  }
  if (end === words.length) at.notes.unclear.add(`find ${action} has no end.`);
  const inner = words.slice(start, end).map((word) => substituteMark(word, "{}"));
  runInside(`find ${action}`, inner, [], at, { kind: "unknown" });
  return end + 1;
}

/** A word in which a program replaces a placeholder. */
function substituteMark(word: ReadWord, mark: string): ReadWord {
  const place = word.text.indexOf(mark);
  if (place < 0) return word;
  return { ...word, dynamic: true, prefix: word.prefix.slice(0, place) };
}

const XARGS: Options = {
  flags: "0rtpxo",
  values: "adEILnPsJR",
  longFlags: ["null", "no-run-if-empty", "verbose", "interactive", "exit", "open-tty"],
  longValues: ["arg-file", "delimiter", "max-args", "max-procs", "max-chars"],
};

/** Lists what `xargs` runs: its own words, followed by unknown ones. */
export function readXargs(words: readonly ReadWord[], at: At): void {
  const scanned = scanOptions(words, 1, XARGS, at);
  if (scanned === undefined) return;
  const marks = scanned.options.filter(({ name }) => name === "-I" || name === "-J");
  const given = words.slice(scanned.next);
  // Without a command it runs echo.
  const inner = given.length === 0 ? [literal("echo")] : given;
  const mark = marks.at(-1)?.value;
  if (marks.length > 1 || mark?.dynamic === true) at.notes.unclear.add("It is unclear where xargs puts its words.");
  const full =
    mark === undefined ? [...inner, unknownWords("…")] : inner.map((word) => substituteMark(word, mark.text));
  runInside("xargs", full, [], at, { kind: "unknown" });
}
