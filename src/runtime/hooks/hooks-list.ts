import { CapstanError } from "../../core/errors.ts";
import { hookOptions } from "../../core/agent/hook-answers.ts";
import type { AgentHooks, HookCommand, HookKind } from "../../core/agent/hooks-schema.ts";
import type { CommandEnd, CommandSurroundings, RunHookCommand, SessionHooks } from "../../core/ports/hooks.ts";
import { changedPrograms, type ProgramGuard } from "../programs/program-guard.ts";
import { parseRule, type Rule } from "../../core/rules/rule.ts";

/** A hook of a session, whatever it is made of. */
export interface Hook {
  readonly kind: HookKind;
  readonly name: string;
  /** The calls it wants to see; undefined for all. */
  readonly matcher: Rule | undefined;
  readonly timeoutMs: number;
  readonly onFailure: "deny" | "continue";
  readonly does: { readonly command: HookCommand } | { readonly call: (facts: object) => unknown };
}

export type HookLists = Readonly<Record<HookKind, readonly Hook[]>>;

const DEFAULT_TIMEOUT_MS = 60_000;
/** Of a command that says no, as its text on stderr tells. */
const DENIED = 2;

const NAMES = {
  before_prompt: "beforePrompt",
  before_tool: "beforeTool",
  after_tool: "afterTool",
  on_turn_end: "onTurnEnd",
  on_session_end: "onSessionEnd",
} as const satisfies Record<HookKind, keyof SessionHooks>;

interface GivenHooks {
  /** Of the agent; these run first. */
  readonly commands: AgentHooks | undefined;
  /** Of the program. */
  readonly functions: SessionHooks | undefined;
}

/** All hooks of a session, in the order in which they run. Throws `invalid_input` for functions that cannot be hooks. */
export function listHooks(given: GivenHooks): HookLists {
  requireKnownNames(given.functions);
  const list = (kind: HookKind): readonly Hook[] =>
    [...commandsOf(kind, given.commands), ...functionsOf(kind, given.functions)].map(({ name, ...hook }, index) => ({
      kind,
      name: name ?? `${kind} ${index + 1}`,
      ...hook,
    }));
  return {
    before_prompt: list("before_prompt"),
    before_tool: list("before_tool"),
    after_tool: list("after_tool"),
    on_turn_end: list("on_turn_end"),
    on_session_end: list("on_session_end"),
  };
}

/** The rules by which hooks choose their calls. Throws as `listHooks` does. */
export function hookMatchers(commands: AgentHooks | undefined, functions: SessionHooks | undefined): string[] {
  return Object.values(listHooks({ commands, functions }))
    .flat()
    .flatMap(({ matcher }) => (matcher === undefined ? [] : [matcher.text]));
}

/** The hook that has every field. */
type WrittenHook = NonNullable<AgentHooks["before_tool"]>[number];
type Unnamed = Omit<Hook, "kind" | "name"> & { readonly name: string | undefined };

function commandsOf(kind: HookKind, hooks: AgentHooks | undefined): Unnamed[] {
  const written: readonly WrittenHook[] = hooks?.[kind] ?? [];
  return written.map(({ name, matcher, timeout_ms: timeoutMs, on_failure: onFailure, command }) => ({
    name,
    matcher: matcher === undefined ? undefined : parseRule(matcher),
    timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
    onFailure: onFailure ?? "deny",
    does: { command },
  }));
}

function functionsOf(kind: HookKind, hooks: SessionHooks | undefined): Unnamed[] {
  const given: unknown = hooks?.[NAMES[kind]];
  if (given === undefined) return [];
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  return list.map((entry, index): Unnamed => {
    const place = `${NAMES[kind]}${Array.isArray(given) ? `.${index}` : ""}`;
    const parsed = hookOptions.safeParse(typeof entry === "function" ? { run: entry } : entry);
    if (!parsed.success)
      throw wrong(
        parsed.error.issues.map(({ path, message }) => `${[place, ...path].join(".")}: ${message}`).join("; "),
      );
    const { run, name, matcher, timeoutMs, onFailure } = parsed.data;
    if (matcher !== undefined && !kind.endsWith("_tool")) throw wrong(`${place}.matcher: only hooks on tools have one`);
    if (onFailure !== undefined && !kind.startsWith("before_"))
      throw wrong(`${place}.onFailure: after the fact there is nothing to deny`);
    return {
      name,
      matcher: matcher === undefined ? undefined : parseRule(matcher),
      timeoutMs: timeoutMs ?? DEFAULT_TIMEOUT_MS,
      onFailure: onFailure ?? "deny",
      does: { call: run as (facts: object) => unknown },
    };
  });
}

function requireKnownNames(functions: SessionHooks | undefined): void {
  const known: readonly string[] = Object.values(NAMES);
  const unknown = Object.keys(functions ?? {}).filter((name) => !known.includes(name));
  if (unknown.length > 0) throw wrong(`there is no hook ${unknown.join(", ")}. Known are ${known.join(", ")}.`);
}

function wrong(problem: string): CapstanError {
  return new CapstanError("invalid_input", `hooks: ${problem}`);
}

/** Asks a hook. Resolves to what it answered, whatever that is; undefined for nothing. */
export type AskHook = (hook: Hook, facts: object, signal: AbortSignal) => Promise<unknown>;

interface HookCommands {
  readonly run: RunHookCommand;
  /** What a session gives its commands beside the facts, at the moment that one runs. */
  readonly surroundings: () => Omit<CommandSurroundings, "stdin" | "signal">;
  readonly programs: Pick<ProgramGuard, "changed">;
}

/** A command whose files have changed is not run: before something that denies, whatever its `on_failure` says. */
export function askHooks({ run, surroundings, programs }: HookCommands): AskHook {
  return async ({ kind, name, does }, facts, signal) => {
    if ("call" in does) return does.call({ ...facts, signal });
    const changed = programs.changed({ hooks: { on_session_end: [{ command: does.command }] } });
    if (changed.length > 0) {
      const { message } = changedPrograms(changed, `The hook ${name} was not run`);
      if (kind.startsWith("before_")) return { deny: message };
      throw new Error(message);
    }
    const stdin = JSON.stringify({ hook: kind, ...inFileStyle(facts) });
    return answerOf(await run(does.command, { ...surroundings(), stdin, signal }), {
      canDeny: kind.startsWith("before_"),
    });
  };
}

/** Facts as an agent file would write them: `sessionId` is `session_id`. */
function inFileStyle(facts: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(facts).map(([key, value]: [string, unknown]) => [
      key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}

/** What a command answered: nothing, its JSON, or with exit code 2 a denial. Anything else is a failure. */
function answerOf({ exitCode, stdout, stderr }: CommandEnd, { canDeny }: { canDeny: boolean }): unknown {
  const said = stderr.trim();
  if (exitCode === DENIED && canDeny) return { deny: said };
  if (exitCode !== 0) {
    const how = exitCode === null ? "It was killed by a signal" : `It ended with exit code ${exitCode}`;
    throw new Error(said === "" ? `${how}.` : `${how}: ${said}`);
  }
  // Nobody looks at what hooks after the fact print.
  if (!canDeny || stdout.trim() === "") return undefined;
  try {
    return JSON.parse(stdout) as unknown;
  } catch {
    throw new Error("What it printed is not JSON.");
  }
}
