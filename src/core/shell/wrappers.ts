import { scanOptions, type Options } from "./options.ts";
import { deeper, quoteExcerpt, type At, type StandardInput, type ReadWord } from "./reading.ts";
import { assignedName, changesWhatRuns } from "./variables.ts";

/** A program that runs the command in its last words. */
interface Wrapper extends Options {
  /** How many operands precede the command. */
  readonly operands?: number;
  /** What those operands look like; another word may already be the command. */
  readonly operand?: RegExp;
  /** `NAME=value` words may precede the command. */
  readonly assigns?: boolean;
  /** With one of these options it runs no command. */
  readonly asks?: readonly string[];
  /** Without a command it starts a shell. */
  readonly shell?: boolean;
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  builtin: {},
  chroot: { operands: 1, shell: true, longFlags: ["skip-chdir"], longValues: ["userspec", "groups"] },
  chrt: { flags: "abdfiorvR", values: "TPD", operands: 1, operand: /^[0-9]+$/ },
  command: { flags: "pvV", asks: ["-v", "-V"] },
  doas: { flags: "nL", values: "u" },
  env: {
    flags: "i0v",
    values: "uC",
    longFlags: ["ignore-environment", "null", "debug"],
    longValues: ["unset", "chdir"],
    assigns: true,
  },
  exec: { flags: "cl", values: "a" },
  ionice: { flags: "t", values: "cn", longFlags: ["ignore"], longValues: ["class", "classdata"] },
  nice: { values: "n", longValues: ["adjustment"], numbers: true },
  nohup: {},
  setsid: { flags: "cfw", longFlags: ["ctty", "fork", "wait"] },
  stdbuf: { values: "ioe", longValues: ["input", "output", "error"] },
  strace: { flags: "AfFqCcdiknrtTvwxyYzZ", values: "abeIoOPsSuUX" },
  sudo: {
    flags: "AbEHknPSBNv",
    values: "CDgprtTUu",
    longFlags: ["askpass", "background", "set-home", "non-interactive", "preserve-env", "reset-timestamp", "stdin"],
    longValues: ["user", "group", "prompt", "chdir"],
    assigns: true,
  },
  taskset: { flags: "ac", operands: 1, operand: /^(?:0x)?[0-9a-fA-F,:-]+$/, longFlags: ["cpu-list", "all-tasks"] },
  time: {
    flags: "apvq",
    values: "of",
    longFlags: ["append", "portability", "verbose"],
    longValues: ["output", "format"],
  },
  timeout: {
    flags: "fpv",
    values: "ks",
    longFlags: ["foreground", "preserve-status", "verbose"],
    longValues: ["kill-after", "signal"],
    operands: 1,
    operand: /^[0-9.]+[smhd]?$/,
  },
  unshare: {
    flags: "muinpCTUfrc",
    values: "wSG",
    longFlags: "mount uts ipc net pid cgroup time user fork map-root-user map-current-user mount-proc kill-child".split(
      " ",
    ),
    shell: true,
  },
};

/** Programs that run others in ways that are not analyzed here. */
const OPAQUE = new Set(
  `ash.static at batch bwrap capsh catchsegv cgexec chpst coreutils crontab dbus-run-session dumb-init entr fakeroot firejail gosu linux32
  linux64 ltrace nsenter numactl parallel perf pkexec prlimit proot proxychains proxychains4 rlwrap runcon runuser schedtool setarch setpriv
  setuidgid su-exec systemd-run tini torsocks unbuffer valgrind xvfb-run`.split(/\s+/),
);

/** Reads the command inside a wrapper; false if the program is not one. */
export function readWrapper(name: string, words: readonly ReadWord[], at: At, input: StandardInput): boolean {
  if (OPAQUE.has(name)) {
    at.notes.unclear.add(`${name} runs a program that is not analyzed here.`);
    return true;
  }
  if (name === "busybox" || name === "toybox") return readApplet(name, words, at, input);
  const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
  if (wrapper === undefined) return false;
  const scanned = scanOptions(words, 1, wrapper, at);
  if (scanned === undefined) return true;
  let { next } = scanned;
  for (const { name: option, value } of scanned.options) {
    if (wrapper.asks?.includes(option) === true) return true;
    // strace -o '|program' runs it; time -o and strace -o write a file.
    if (option !== "-o" || value === undefined || name === "stdbuf") continue;
    if (value.dynamic || /^[|!]/.test(value.text)) at.notes.unclear.add(`${name} -o may run a program.`);
    else at.notes.writes.push({ path: { text: value.text, dynamic: false }, how: `${name} -o` });
  }
  const assignments: string[] = [];
  if (wrapper.assigns === true) {
    if (name === "env" && words[next]?.text === "-") next += 1;
    for (let word = words[next]; word !== undefined && word.prefix.includes("="); word = words[next]) {
      if (!readAssigned(word, assignments, at)) return true;
      next += 1;
    }
  }
  for (let left = wrapper.operands ?? 0; left > 0; left--) {
    const operand = words[next];
    if (operand?.splits === true || (operand !== undefined && wrapper.operand?.test(operand.text) === false))
      at.notes.unclear.add(`It is unclear what ${name} runs, because of ${quoteExcerpt(operand.source)}.`);
    next += 1;
  }
  const inner = words.slice(next);
  if (inner.length > 0) runInside(name, inner, assignments, at, input);
  else if (wrapper.shell === true)
    at.notes.unclear.add(`${name} starts a shell that reads its commands from its input.`);
  return true;
}

/** `NAME=value` of env and sudo. */
function readAssigned(word: ReadWord, assignments: string[], at: At): boolean {
  const name = assignedName(word.prefix);
  if (name === undefined || word.splits) {
    at.notes.unclear.add(`${quoteExcerpt(word.source)} may be more than a variable.`);
    return false;
  }
  if (changesWhatRuns(name)) at.notes.unclear.add(`It sets ${name}, which changes what runs.`);
  assignments.push(name);
  return true;
}

function readApplet(name: string, words: readonly ReadWord[], at: At, input: StandardInput): boolean {
  const inner = words.slice(1);
  if (inner[0]?.text.startsWith("-") === true) at.notes.unclear.add(`It is unclear what ${name} runs.`);
  else if (inner.length > 0) runInside(name, inner, [], at, input);
  return true;
}

/** Lists the command that another one runs. */
export function runInside(
  how: string,
  words: readonly ReadWord[],
  assignments: readonly string[],
  at: At,
  input: StandardInput,
): void {
  const inside = deeper(at, how);
  if (inside !== undefined) at.run(words, assignments, inside, input);
}
