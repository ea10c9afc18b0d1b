import { awkEffects } from "./effects/awk.ts";
import { readFind, readXargs } from "./find-and-xargs.ts";
import { readGit } from "./git.ts";
import { deeper, quoteExcerpt, type At, type ReadWord } from "./reading.ts";
import { readSed } from "./sed.ts";

/** Long options of tar that name a program, up to the value. */
const TAR_LONG =
  /^--(?:checkpoint-action|to-command|use-compress-program|info-script|new-volume-script|rsh-command|rmt-command)(?:=(.*))?$/s;

function readTar(words: readonly ReadWord[], at: At): void {
  for (const [index, word] of words.entries()) {
    if (index === 0) continue;
    if (word.dynamic && (word.splits || word.prefix === "" || word.prefix.startsWith("-"))) {
      at.notes.unclear.add(`With ${quoteExcerpt(word.source)}, tar may run a program.`);
      continue;
    }
    const { text } = word;
    const long = TAR_LONG.exec(text);
    if (long !== null) readTarProgram(long[1] ?? words[index + 1]?.text ?? "", at);
    // GNU programs accept any unambiguous abbreviation of a long option.
    else if (/^--(?:checkpoint-|to-|us|inf|new-|rsh|rmt)/.test(text)) runs(index, text.replace(/=.*$/s, ""));
    // -I and -F take a program, also in a group and in the old form without a dash; -T takes a file that may contain
    // options.
    else if (
      /^-[^-]*[IFT]|^--files-f/.test(text) ||
      (index === 1 && /^[A-Za-z]*[IFT]/.test(text) && !text.includes("/"))
    )
      runs(index, text);
  }

  function runs(word: number, written: string): void {
    at.effects.push({ word, option: written, written, does: "runs a program" });
  }
}

function readTarProgram(value: string, at: At): void {
  const action = /^(?:exec=)?(.*)$/s.exec(value)?.[1] ?? "";
  const inside = deeper(at, "tar");
  if (action !== "dot" && action !== "bell" && inside !== undefined) at.text(action, inside);
}

/** Reads what a known program runs; false if it is not one of these. */
export function readProgram(name: string, words: readonly ReadWord[], at: At): boolean {
  switch (name) {
    case "find":
    case "gfind":
      readFind(words, at);
      return true;
    case "xargs":
    case "gxargs":
      readXargs(words, at);
      return true;
    case "git":
      readGit(words, at);
      return true;
    case "tar":
    case "gtar":
    case "bsdtar":
      readTar(words, at);
      return true;
    case "awk":
    case "gawk":
    case "mawk":
    case "nawk":
      at.effects.push(...awkEffects(words));
      return true;
    case "sed":
    case "gsed":
      readSed(words, at);
      return true;
    default:
      return false;
  }
}
