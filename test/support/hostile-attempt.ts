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

export const NO_RULE = "no rule allows the command";

/** A command that is blocked in both set-ups. */
export const bash = (name: string, command: string, effect: Effect, why = NO_RULE): Attempt => ({
  name,
  tool: "Bash",
  input: { command },
  effect,
  blockedWith: true,
  blockedWithout: true,
  why,
});
