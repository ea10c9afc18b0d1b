import type { ShellWord } from "../../core/shell/read-commands.ts";

type Access = "read" | "write";

const ALWAYS = /^/;
const RECURSIVE = /^-[a-zA-Z]*[rR]|^--(?:dereference-)?recursive$/;

/** Programs that process everything in a directory: with which option, and what they do there. */
const TAKES: Readonly<Record<string, readonly [option: RegExp, ...access: Access[]]>> = {
  "7z": [ALWAYS, "read"],
  ack: [ALWAYS, "read"],
  ag: [ALWAYS, "read"],
  chgrp: [RECURSIVE, "write"],
  chmod: [RECURSIVE, "write"],
  chown: [RECURSIVE, "write"],
  cp: [/^-[a-zA-Z]*[rRa]|^--(?:recursive|archive)$/, "read"],
  diff: [RECURSIVE, "read"],
  egrep: [RECURSIVE, "read"],
  fgrep: [RECURSIVE, "read"],
  find: [/^-(?:exec|execdir|ok|okdir|delete)$/, "read", "write"],
  grep: [RECURSIVE, "read"],
  mv: [ALWAYS, "read", "write"],
  rg: [ALWAYS, "read"],
  rm: [RECURSIVE, "write"],
  rsync: [ALWAYS, "read"],
  scp: [RECURSIVE, "read"],
  tar: [ALWAYS, "read"],
  zip: [ALWAYS, "read"],
};
/** Without a path, these search the current directory. */
const SEARCH_HERE = new Set(["ack", "ag", "egrep", "fgrep", "find", "grep", "rg"]);

/** How a command accesses whole directories; empty if it does not. */
export function accessToDirectories(program: string, words: readonly ShellWord[]): readonly Access[] {
  const [option, ...access] = Object.hasOwn(TAKES, program) ? (TAKES[program] ?? []) : [];
  const takes = option === ALWAYS || words.some(({ text }) => option?.test(text) === true);
  return takes ? access : [];
}

export function searchesHere(program: string): boolean {
  return SEARCH_HERE.has(program);
}
