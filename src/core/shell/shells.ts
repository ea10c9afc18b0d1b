import { scanOptions, type Options } from "./options.ts";
import { deeper, quoteExcerpt, type At, type StandardInput, type ReadWord } from "./reading.ts";
import { runInside } from "./wrappers.ts";

type Handler = (words: readonly ReadWord[], at: At, input: StandardInput) => void;

/** Shells whose language is the one parsed here, or a part of it. */
const BASHES = ["bash", "sh", "dash", "ash", "rbash"];
const OTHER_SHELLS = [
  "zsh",
  "ksh",
  "ksh93",
  "mksh",
  "pdksh",
  "lksh",
  "yash",
  "fish",
  "csh",
  "tcsh",
  "nu",
  "elvish",
  "xonsh",
];
/** Programs that run their input by default. */
const INTERPRETERS =
  /^(?:python[0-9.]*|pypy[0-9.]*|ipython[0-9]*|node|nodejs|deno|bun|perl[0-9.]*|ruby[0-9.]*|irb|php[0-9.]*|lua[0-9.]*|luajit|tclsh[0-9.]*|wish|expect|guile|racket|R|Rscript|julia|ghci|ocaml|scala|groovy|jshell|pwsh|powershell|osascript|gdb|sqlite3|psql|mysql|ed|ex|m4|bc|dc)$/i;

const SHELL_OPTIONS: Options = {
  flags: "abefhkmnptuvxBCEPTlc",
  values: "o",
  longFlags: ["login", "noprofile", "norc", "posix", "verbose"],
};

/** Reads text that a shell runs, as far as it is known. */
function readScriptWord(how: string, word: ReadWord | undefined, at: At): void {
  if (word === undefined) return;
  const inside = deeper(at, how);
  if (word.dynamic) at.notes.unclear.add(`${how} runs ${quoteExcerpt(word.source)}, which is only known when it runs.`);
  else if (inside !== undefined) at.text(word.text, inside);
}

/** Words that are joined to one line for a shell. */
function readJoined(how: string, words: readonly ReadWord[], at: At): void {
  const dynamic = words.find((word) => word.dynamic);
  if (dynamic !== undefined) readScriptWord(how, dynamic, at);
  else readScriptWord(how, { ...literalWord(words.map(({ text }) => text).join(" ")) }, at);
}

function literalWord(text: string): ReadWord {
  return { text, dynamic: false, splits: false, prefix: text, source: text };
}

/** A script without a slash is also searched on PATH; with a dot in its name, it is assumed to be a file here. */
const ON_PATH = /^[^/.]*$/;
const SPECIAL_FILE = /^(?:-|\/dev\/.*|\/proc\/.*)$/;

function readShell(words: readonly ReadWord[], at: At, input: StandardInput): void {
  const name = words[0]?.text ?? "";
  const scanned = scanOptions(words, 1, SHELL_OPTIONS, at);
  if (scanned === undefined) return;
  const operand = words[scanned.next];
  const has = (option: string): boolean => scanned.options.some((given) => given.name === option);
  if (has("-k")) at.notes.unclear.add(`${name} -k accepts assignments anywhere on a line.`);
  if (
    scanned.options.some(
      ({ name: option, value }) => option === "-o" && value?.text !== "pipefail" && value?.text !== "errexit",
    )
  )
    at.notes.unclear.add(`${name} -o sets an option that may change how its commands are read.`);
  // Options are also switched off, with a plus; a single dash ends them.
  if (operand?.prefix.startsWith("+") === true || operand?.text === "-")
    at.notes.unclear.add(`It is unclear what ${name} runs.`);
  if (has("-c")) {
    if (operand === undefined) at.notes.unclear.add(`${name} -c has no command.`);
    readScriptWord(`${name} -c`, operand, at);
    return;
  }
  if (operand === undefined) {
    if (input.kind === "text") readScriptWord(`${name} <<`, literalWord(input.text), at);
    else at.notes.unclear.add(`${name} runs what it reads from its input.`);
    return;
  }
  if (operand.dynamic || SPECIAL_FILE.test(operand.text) || ON_PATH.test(operand.text))
    at.notes.unclear.add(`${name} runs ${quoteExcerpt(operand.source)}, whose content is unknown.`);
}

function readOtherShell(words: readonly ReadWord[], at: At, input: StandardInput): void {
  at.notes.unclear.add(`${words[0]?.text ?? ""} is a shell with its own language.`);
  readShell(words, at, input);
}

function readEval(words: readonly ReadWord[], at: At): void {
  const rest = words[1]?.text === "--" ? words.slice(2) : words.slice(1);
  if (rest.length > 0) readJoined("eval", rest, at);
}

function readTrap(words: readonly ReadWord[], at: At): void {
  const rest = words.slice(1).filter(({ text, dynamic }) => dynamic || text !== "--");
  const [action] = rest;
  if (action === undefined || (!action.dynamic && /^-(?:[lpP]+)?$/.test(action.text))) return;
  if (rest.some((word) => word.splits)) at.notes.unclear.add("It is unclear what the trap runs.");
  // A single word is the signal whose trap is reset.
  if (rest.length === 1 && !action.dynamic) return;
  readScriptWord("trap", action, at);
}

function readSource(words: readonly ReadWord[], at: At): void {
  const rest = words[1]?.text === "--" ? words.slice(2) : words.slice(1);
  const [file] = rest;
  if (file !== undefined && (file.dynamic || SPECIAL_FILE.test(file.text) || ON_PATH.test(file.text)))
    at.notes.unclear.add(`It runs the commands in ${quoteExcerpt(file.source)}, whose content is unknown.`);
}

function readSu(words: readonly ReadWord[], at: At): void {
  let rest = words.slice(1);
  let command: ReadWord | undefined;
  // Options may also follow the user's name.
  while (rest.length > 0) {
    const scanned = scanOptions(
      [literalWord("su"), ...rest],
      1,
      { flags: "lmpfP", values: "cgG", longFlags: ["login"], longValues: ["command"] },
      at,
    );
    if (scanned === undefined) return;
    for (const { name, value } of scanned.options) if (name === "-c" || name === "--command") command = value;
    rest = rest.slice(scanned.next);
  }
  if (command === undefined) at.notes.unclear.add("su starts a shell that reads its commands from its input.");
  readScriptWord("su -c", command, at);
}

function readTypescript(words: readonly ReadWord[], at: At): void {
  const scanned = scanOptions(
    words,
    1,
    { flags: "aefq", values: "cEIOBTm", longFlags: ["quiet", "flush", "append", "return"], longValues: ["command"] },
    at,
  );
  if (scanned === undefined) return;
  const command = scanned.options.find(({ name }) => name === "-c" || name === "--command")?.value;
  const operands = words.slice(scanned.next);
  if (command === undefined || operands.length > 1) at.notes.unclear.add("It is unclear what script runs.");
  for (const { text, dynamic } of operands) at.notes.writes.push({ path: { text, dynamic }, how: "script" });
  readScriptWord("script -c", command, at);
}

function readFlock(words: readonly ReadWord[], at: At, input: StandardInput): void {
  const spec: Options = {
    flags: "sxenuoF",
    values: "wE",
    longFlags: ["shared", "exclusive", "nonblock", "nb", "unlock", "close", "no-fork", "verbose"],
    longValues: ["timeout", "wait", "conflict-exit-code"],
  };
  const scanned = scanOptions(words, 1, spec, at);
  if (scanned === undefined) return;
  const [lock, first, ...rest] = words.slice(scanned.next);
  if (lock?.splits === true) at.notes.unclear.add("It is unclear what flock runs.");
  if (first === undefined) return;
  if (!first.dynamic && (first.text === "-c" || first.text === "--command")) readJoined("flock -c", rest, at);
  else if (first.prefix.startsWith("-")) at.notes.unclear.add("It is unclear what flock runs.");
  else runInside("flock", [first, ...rest], [], at, input);
}

function readWatch(words: readonly ReadWord[], at: At): void {
  const spec: Options = {
    flags: "bcdegptwxC",
    values: "nq",
    longFlags: ["beep", "color", "errexit", "chgexit", "no-title", "exec", "differences"],
    longValues: ["interval"],
  };
  const scanned = scanOptions(words, 1, spec, at);
  if (scanned === undefined) return;
  const inner = words.slice(scanned.next);
  const direct = scanned.options.some(({ name }) => name === "-x" || name === "--exec");
  if (inner.length === 0) return;
  if (direct) runInside("watch", inner, [], at, { kind: "none" });
  else readJoined("watch", inner, at);
}

const SSH_OPTIONS: Options = { flags: "46AaCfGgKkMNnqsTtVvXxYy", values: "BbcDeiJLlmOopQRSWw" };
/** Settings of ssh that run nothing. */
const SSH_SETTINGS =
  /^(?:StrictHostKeyChecking|UserKnownHostsFile|ConnectTimeout|ConnectionAttempts|BatchMode|LogLevel|ServerAliveInterval|ServerAliveCountMax|Port|User|HostName|IdentitiesOnly|IdentityFile|PasswordAuthentication|Compression|RequestTTY)[= ]/i;

function readSsh(words: readonly ReadWord[], at: At): void {
  let next = 1;
  // ssh accepts options before and after the host.
  for (let round = 0; round < 2; round++) {
    const scanned = scanOptions(words, next, SSH_OPTIONS, at);
    if (scanned === undefined) return;
    for (const { name, value } of scanned.options)
      if (name === "-o" && (value === undefined || value.dynamic || !SSH_SETTINGS.test(value.text)))
        at.notes.unclear.add(`ssh -o ${quoteExcerpt(value?.source ?? "")} may run a program.`);
    next = scanned.next;
    if (round === 0) next += 1;
  }
  const command = words.slice(next);
  if (command.length > 0) readJoined("ssh", command, at);
  else at.notes.unclear.add("ssh runs what it reads from its input.");
}

function readInterpreter(words: readonly ReadWord[], at: At): void {
  const rest = words.slice(1);
  // A file, or an option that contains the program or needs none.
  const told = rest.some(
    ({ text, dynamic }) => dynamic || /^(?:-[A-Za-z]*[cemVvhprf]|--[a-z])/.test(text) || !text.startsWith("-"),
  );
  const special = rest.some(({ text, dynamic }) => !dynamic && SPECIAL_FILE.test(text));
  if (!told || special) at.notes.unclear.add(`${words[0]?.text ?? ""} runs what it reads from its input.`);
}

const HANDLERS: ReadonlyMap<string, Handler> = new Map<string, Handler>([
  ...BASHES.map((name) => [name, readShell] as const),
  ...OTHER_SHELLS.map((name) => [name, readOtherShell] as const),
  ["eval", readEval],
  ["trap", readTrap],
  ["source", readSource],
  [".", readSource],
  ["su", readSu],
  ["script", readTypescript],
  ["flock", readFlock],
  ["watch", readWatch],
  ["ssh", readSsh],
]);

/** Reads what a program that runs shell text runs; false if it is not one. */
export function readShellText(name: string, words: readonly ReadWord[], at: At, input: StandardInput): boolean {
  const handler = HANDLERS.get(name) ?? (INTERPRETERS.test(name) ? readInterpreter : undefined);
  handler?.(words, at, input);
  return handler !== undefined;
}
