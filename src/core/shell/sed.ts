import { scanOptions, type Options } from "./options.ts";
import { quoteExcerpt, type At, type ReadWord } from "./reading.ts";

const SED: Options = {
  flags: "nErsuz",
  values: "elf",
  longFlags: ["quiet", "silent", "regexp-extended", "separate", "unbuffered", "null-data", "posix", "debug", "sandbox"],
  longValues: ["expression", "line-length", "file"],
};

/** How the reason names what a script does. */
export const SED_ACTS = "e, w or s///e";

/** A sed script can run programs (`e`, `s///e`) and write files (`w`); only scripts that surely do neither are clear. */
export function readSed(words: readonly ReadWord[], at: At): void {
  const scripts: ReadWord[] = [];
  const operands: ReadWord[] = [];
  let hasFile = false;
  let next = 1;
  while (next < words.length) {
    const [program] = words;
    const word = words[next];
    if (program === undefined || word === undefined) break;
    // GNU sed also accepts options between files. -i and its suffix can't be told from other letters by position.
    if (!word.dynamic && /^(?:-[nErsuz]*i[^e]*|--in-place(?:=[^/]*)?)$/.test(word.text)) {
      next += 1;
      continue;
    }
    const end = !word.dynamic && word.text === "--";
    const scanned = scanOptions([program, ...words.slice(next)], 1, SED, at);
    if (scanned === undefined) return;
    for (const { name, value } of scanned.options)
      if ((name === "-e" || name === "--expression") && value !== undefined) scripts.push(value);
      else if (name === "-f" || name === "--file") hasFile = true;
    next += scanned.next - 1;
    if (end) {
      operands.push(...words.slice(next));
      break;
    }
    const operand = words[next];
    if (scanned.next === 1 && operand !== undefined) {
      operands.push(operand);
      next += 1;
    }
  }
  if (scripts.length === 0 && !hasFile) {
    const [script] = operands;
    if (script !== undefined) scripts.push(script);
  }
  // Several -e form one script with a line each.
  for (const script of scripts) {
    if (script.dynamic)
      at.notes.unclear.add(`The sed script ${quoteExcerpt(script.source)} may run programs or write files.`);
    else if (!isHarmless(script.text))
      for (const [word, { text }] of words.entries())
        if (text.endsWith(script.text))
          at.effects.push({ word, option: SED_ACTS, written: text, does: "runs a program" });
  }
}

const ADDRESS = /^(?:[0-9]+(?:~[0-9]+)?|\$|\/(?:[^/\\\n[]|\\[^\n]|\[\^?\]?[^\]\n]*\])+\/[IM]*)/;

/** Whether a script contains only commands that change nothing but the text. */
function isHarmless(script: string): boolean {
  let rest = script;
  for (;;) {
    rest = rest.replace(/^[\s;]+/, "");
    if (rest === "") return true;
    const next = afterCommand(afterAddresses(rest));
    if (next === undefined) return false;
    rest = next;
  }
}

function afterAddresses(text: string): string {
  let rest = text.replace(ADDRESS, "");
  if (rest !== text && /^\s*,/.test(rest)) {
    const second = rest.replace(/^\s*,\s*/, "");
    const after = second.replace(/^[+~][0-9]+/, "").replace(ADDRESS, "");
    if (after === second) return "?";
    rest = after;
  }
  return rest.replace(/^\s*!?\s*/, "");
}

/** The text after one command; undefined if it is not known to be harmless. */
function afterCommand(text: string): string | undefined {
  const simple = /^[pPdDgGhHxnNz={}](?=[\s;}]|$)|^[{](?=.)|^[qQl]\s*[0-9]*(?=[\s;}]|$)/.exec(text);
  if (simple !== null) return text.slice(simple[0].length);
  const substitute = /^([sy])([^\sA-Za-z0-9\\;])/.exec(text);
  if (substitute === null) return undefined;
  const delimiter = substitute[2] ?? "/";
  // Backslashes and brackets hide a delimiter; if brackets are doubtful, so is the script.
  const body = text.slice(2);
  const parts = splitAt(body, delimiter);
  if (parts === undefined || (body.slice(0, parts.first).includes("[") && /\[[^\]]*$/.test(body.slice(0, parts.first))))
    return undefined;
  const after = body.slice(parts.second + 1);
  const flags = /^[gpiIm0-9]*(?=\s*(?:[;}\n]|$))/i.exec(after);
  if (flags === null || /[^gpiImM0-9]/.test(flags[0])) return undefined;
  return after.slice(flags[0].length);
}

function splitAt(text: string, delimiter: string): { readonly first: number; readonly second: number } | undefined {
  const found: number[] = [];
  for (let index = 0; index < text.length && found.length < 2; index++) {
    if (text[index] === "\\") index += 1;
    else if (text[index] === delimiter) found.push(index);
    else if (text[index] === "\n" && found.length === 0) return undefined;
  }
  const [first, second] = found;
  return first === undefined || second === undefined ? undefined : { first, second };
}
