import type { Attempt } from "./hostile-attempt.ts";
import { FILE_ATTEMPTS } from "./hostile-files.ts";
import { PROCESS_ATTEMPTS } from "./hostile-processes.ts";
import { SECRET_ATTEMPTS } from "./hostile-secrets.ts";

/** A few commands that look harmless, and edits in the workspace. */
export const WITHOUT_RULES = ["Bash(cat *)", "Bash(ls *)", "Bash(sh ./task.sh)", "Edit(./**)"];

/** Those that are made once more with no sandbox and nobody in the way: what stands in the list must be able to happen. */
export const CONTROLS: readonly string[] = [
  "cat an absolute path",
  "read an absolute path",
  "cat an ssh key",
  "have a server read",
  "read a variable that looks secret",
  "redirect to an absolute path",
  "write an absolute path",
  "write to another session's temporary files",
  "make a branch in the repository",
  "have a server write",
  "have a server write a hook",
  "have a server write settings of the workspace",
  "have a server write what a shell reads",
  "have a server point git elsewhere",
  "reach a port of the machine",
  "reach it by node",
  "speak to a socket of the machine",
  "have a server reach a port",
  "ask to leave the sandbox",
];

export const ATTEMPTS: readonly Attempt[] = [...SECRET_ATTEMPTS, ...FILE_ATTEMPTS, ...PROCESS_ATTEMPTS];
