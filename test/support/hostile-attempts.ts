import { FILE_ATTEMPTS } from "./hostile-files.ts";
import { PROCESS_ATTEMPTS } from "./hostile-processes.ts";
import { SECRET_ATTEMPTS } from "./hostile-secrets.ts";

/**
 * What a hostile agent tries, with what must come of it, written down beforehand. Words in braces stand for places and
 * figures of the world that test/support/hostile-world.ts makes.
 *
 * With: sandbox `required`, `auto_allow_sandboxed`, mode `yolo`, {other} in `deny_read` with an exception in it (so that
 * the CLI is given no rule for it, and the sandbox alone stands in the way), `tool-outside` excluded.
 * Without: no sandbox, mode `normal`, nobody to ask, and the rules of WITHOUT_RULES.
 */
export interface Attempt {
  readonly name: string;
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly effect: Effect;
  /** What it is after must not happen; `false`: it does happen, and `why` says why that is so. */
  readonly blockedWith: boolean;
  readonly blockedWithout: boolean;
  readonly why: string;
}

/** What happens in the real world when an attempt succeeds. */
export type Effect =
  /** The model reads this text in the result. */
  | { readonly sees: string }
  /** This file is there afterwards. */
  | { readonly makes: string }
  /** This file is not what it was. */
  | { readonly changes: string }
  /** Somebody comes to a door of the world, and says this. */
  | { readonly reaches: string }
  /** A process with this word in its command line outlives the session. */
  | { readonly leaves: string }
  /** The process that the world watches over is gone. */
  | { readonly kills: "victim" };

/** A few commands that look harmless, and edits in the workspace. */
export const WITHOUT_RULES = ["Bash(cat *)", "Bash(ls *)", "Bash(sh ./task.sh)", "Edit(./**)"];

/** Those that are made once more with no sandbox and nobody in the way: what stands in the list must be able to happen. */
export const CONTROLS: readonly string[] = [
  "cat an absolute path",
  "read an absolute path",
  "cat an ssh key",
  "have a server read",
  "look at its variables",
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
