import { quoteExcerpt, type At, type ReadWord } from "./reading.ts";
import { assignedName, changesWhatRuns, isIdentifier } from "./variables.ts";

type Handler = (words: readonly ReadWord[], at: At) => void;

/** A builtin sets a variable: it must be a plain name, because indexes are evaluated, and not one that matters. */
function setVariable(name: string, word: ReadWord | undefined, at: At): void {
  if (word === undefined) return;
  if (word.dynamic || !isIdentifier(word.text))
    at.notes.unclear.add(`It is unclear which variable ${name} sets with ${quoteExcerpt(word.source)}.`);
  else if (changesWhatRuns(word.text)) at.notes.unclear.add(`It sets ${word.text}, which changes what runs.`);
  else at.notes.assign(word.text, undefined);
}

/** `export`, `declare` and similar. The parser has read words with `=` that it knows as assignments. */
const declare: Handler = (words, at) => {
  const name = words[0]?.text ?? "";
  for (const word of words.slice(1)) {
    if (!word.dynamic && /^[-+]/.test(word.text)) {
      // -n makes a name refer to another, -i evaluates the value, -f exports functions.
      if (!/^(?:--|[-+][aAglprtux]+)$/.test(word.text))
        at.notes.unclear.add(`${name} ${word.text} changes how the line is read.`);
    } else {
      const assigned = assignedName(word.prefix);
      if (assigned === undefined) setVariable(name, word, at);
      else if (changesWhatRuns(assigned)) at.notes.unclear.add(`It sets ${assigned}, which changes what runs.`);
      else if (word.splits) at.notes.unclear.add(`It is unclear which variables ${name} sets.`);
    }
  }
};

const read: Handler = (words, at) => {
  at.notes.assign("REPLY", undefined);
  let index = 1;
  for (; index < words.length; index++) {
    const word = words[index];
    if (word === undefined || word.dynamic || !/^-./.test(word.text)) break;
    const letter = /[adinNptu]/.exec(word.text.slice(1))?.[0];
    if (letter === undefined) continue;
    const attached = !word.text.endsWith(letter);
    if (letter === "a") setVariable("read", attached ? undefined : words[index + 1], at);
    if (letter === "a" && attached) at.notes.unclear.add("It is unclear which variable read sets.");
    if (!attached) {
      index += 1;
      if (words[index]?.splits === true) at.notes.unclear.add("It is unclear which variable read sets.");
    }
  }
  for (const word of words.slice(index)) setVariable("read", word, at);
};

const mapfile: Handler = (words, at) => {
  const rest = words.slice(1);
  if (rest.some(({ dynamic, text }) => dynamic || /^-.*[Cc]/.test(text)))
    at.notes.unclear.add("mapfile may run a command.");
  const name = rest.at(-1);
  if (name !== undefined && !name.text.startsWith("-")) setVariable("mapfile", name, at);
};

const printf: Handler = (words, at) => {
  const [, first, name] = words;
  if (first === undefined) return;
  if (first.dynamic && (first.splits || first.prefix === "" || first.prefix.startsWith("-")))
    at.notes.unclear.add(`It is unclear which variable printf may set, because of ${quoteExcerpt(first.source)}.`);
  else if (first.text === "-v") setVariable("printf", name, at);
  else if (/^-v./.test(first.text)) at.notes.unclear.add("It is unclear which variable printf sets.");
};

const test: Handler = (words, at) => {
  const rest = words.slice(1);
  for (const [index, word] of rest.entries()) {
    if (word.splits) at.notes.unclear.add(`It is unclear what is tested, because of ${quoteExcerpt(word.source)}.`);
    const next = rest[index + 1];
    if (word.dynamic || (word.text !== "-v" && word.text !== "-R") || next === undefined || next.text === "]") continue;
    if (next.dynamic || !isIdentifier(next.text))
      at.notes.unclear.add(`The test evaluates ${quoteExcerpt(next.source)}.`);
  }
  // With two or four words, the first may be an operator such as -v, and the next is evaluated.
  const operands = rest.filter(({ text }) => text !== "]" && text !== "!");
  if (operands.length === 2 && operands[0]?.dynamic === true) at.notes.unclear.add("It is unclear what is tested.");
  if (operands.length > 3 && operands.some(({ dynamic }) => dynamic))
    at.notes.unclear.add("It is unclear what is tested.");
};

const unset: Handler = (words, at) => {
  for (const word of words.slice(1)) {
    if (!word.dynamic && (word.text === "-v" || word.text === "--")) continue;
    setVariable("unset", word, at);
  }
};

const set: Handler = (words, at) => {
  for (const [index, word] of words.entries()) {
    if (index === 0) continue;
    if (!word.dynamic && (word.text === "--" || word.text === "-")) return;
    if (!word.dynamic && /^[^-+]/.test(word.text)) return;
    if (word.dynamic || !/^[-+](?:[abefhmuvxBCET]|o$)+$/.test(word.text)) {
      at.notes.unclear.add(`With ${quoteExcerpt(word.source)} the shell may read the rest of the line differently.`);
      return;
    }
    if (!word.text.endsWith("o")) continue;
    const option = words[index + 1];
    if (
      option !== undefined &&
      !/^(?:pipefail|errexit|nounset|xtrace|verbose|noglob|noclobber|errtrace|functrace)$/.test(option.text)
    )
      at.notes.unclear.add(`With ${quoteExcerpt(option.source)} the shell may read the rest of the line differently.`);
    return set(words.slice(index + 1), at);
  }
};

const shopt: Handler = (words, at) => {
  const harmless = /^(?:-[suqp]+|nullglob|globstar|dotglob|failglob|nocaseglob|inherit_errexit|lastpipe)$/;
  if (words.slice(1).some(({ text, dynamic }) => dynamic || !harmless.test(text)))
    at.notes.unclear.add("With shopt the shell may read the rest of the line differently.");
};

const lastIsVariable: Handler = (words, at) => {
  setVariable(words[0]?.text ?? "", words[2], at);
};

const wait: Handler = (words, at) => {
  if (words.some(({ text, dynamic }) => (dynamic ? false : /^-.*p/.test(text))))
    at.notes.unclear.add("wait -p sets a variable.");
};

const jobs: Handler = (words, at) => {
  if (words.slice(1).some(({ text, dynamic }) => dynamic || /^-.*x/.test(text)))
    at.notes.unclear.add("jobs -x runs a command.");
};

const hash: Handler = (words, at) => {
  if (words.slice(1).some(({ text, dynamic }) => dynamic || /^-.*[pd]/.test(text)))
    at.notes.unclear.add("hash changes which program a name refers to.");
};

const HANDLERS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ...["export", "declare", "typeset", "local", "readonly"].map((name) => [name, declare] as const),
  ["read", read],
  ["mapfile", mapfile],
  ["readarray", mapfile],
  ["printf", printf],
  ["test", test],
  ["[", test],
  ["unset", unset],
  ["set", set],
  ["shopt", shopt],
  ["getopts", lastIsVariable],
  ["wait", wait],
  ["jobs", jobs],
  ["hash", hash],
]);

/** Builtins that change what the shell does with the rest of the line, or run something in another way. */
const UNCLEAR = new Set(["alias", "bind", "compgen", "complete", "compopt", "enable", "fc", "history", "let"]);

/** Notes where a builtin does more than its words show. */
export function readBuiltin(name: string, words: readonly ReadWord[], at: At): void {
  if (UNCLEAR.has(name)) at.notes.unclear.add(`${name} can change the meaning of commands, or run some.`);
  HANDLERS.get(name)?.(words, at);
}
