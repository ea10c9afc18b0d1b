import { CapstanError } from "../../core/errors.ts";
import { hookOptions } from "../../core/agent/hook-answers.ts";
import type { AgentHooks, HookCommand, HookKind } from "../../core/agent/hooks-schema.ts";
import type { HookCommandEnd, CommandSurroundings, RunHookCommand, SessionHooks } from "../../core/ports/hooks.ts";
import { changedPrograms, type ProgramGuard } from "../programs/program-guard.ts";
import { parseRule, type Rule } from "../../core/rules/rule.ts";

/** One hook of a session: a command or a function. */
export interface Hook {
  readonly kind: HookKind;
  readonly name: string;
  /** The calls that the hook sees; undefined for all. */
  readonly matcher: Rule | undefined;
  readonly timeoutMs: number;
  readonly onFailure: "deny" | "continue";
  readonly does: { readonly command: HookCommand } | { readonly call: (facts: object) => unknown };
}

export type HookLists = Readonly<Record<HookKind, readonly Hook[]>>;

const DEFAULT_TIMEOUT_MS = 60_000;
/** The exit code of a command that denies. Its stderr is the reason. */
const DENIED = 2;

const NAMES = {
  before_prompt: "beforePrompt",
  before_tool: "beforeTool",
  after_tool: "afterTool",
  on_turn_end: "onTurnEnd",
  on_session_end: "onSessionEnd",
} as const satisfies Record<HookKind, keyof SessionHooks>;

interface GivenHooks {
  /** The agent's commands, which run first. */
  readonly commands: AgentHooks | undefined;
  /** The program's functions. */
  readonly functions: SessionHooks | undefined;
}

/** All hooks of a session, in the order they run. Throws `invalid_input` if a function cannot be used as a hook. */
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

/** The rules that select calls for hooks. Throws like `listHooks`. */
export function hookMatchers(commands: AgentHooks | undefined, functions: SessionHooks | undefined): string[] {
  return Object.values(listHooks({ commands, functions }))
    .flat()
    .flatMap(({ matcher }) => (matcher === undefined ? [] : [matcher.text]));
}

/** The kind of hook that has every field. */
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
    if (matcher !== undefined && !kind.endsWith("_tool"))
      throw wrong(`${place}.matcher: only tool hooks can have a matcher`);
    if (onFailure !== undefined && !kind.startsWith("before_"))
      throw wrong(`${place}.onFailure: hooks that run afterwards cannot deny`);
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
  if (unknown.length > 0) throw wrong(`Unknown hook ${unknown.join(", ")}. Known hooks: ${known.join(", ")}.`);
}

function wrong(problem: string): CapstanError {
  return new CapstanError("invalid_input", `hooks: ${problem}`);
}

/** Runs a hook. Resolves to its raw answer, or to undefined if it gave none. */
export type AskHook = (hook: Hook, facts: object, signal: AbortSignal) => Promise<unknown>;

interface HookCommands {
  readonly run: RunHookCommand;
  /** What the session passes to its commands besides the facts, read when a command runs. */
  readonly surroundings: () => Omit<CommandSurroundings, "stdin" | "signal">;
  readonly programs: Pick<ProgramGuard, "listChanged">;
}

/**
 * Refuses to run a command whose files have changed. For a hook that runs before something, this denies, even if
 * `on_failure` allows.
 */
export function askHooks({ run, surroundings, programs }: HookCommands): AskHook {
  return async ({ kind, name, does }, facts, signal) => {
    if ("call" in does) return does.call({ ...facts, signal });
    const changed = programs.listChanged({ hooks: { on_session_end: [{ command: does.command }] } });
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

/** Converts the keys to the style of agent files: `sessionId` becomes `session_id`. */
function inFileStyle(facts: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(facts).map(([key, value]: [string, unknown]) => [
      key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );
}

/** Reads a command's answer: nothing, JSON, or a denial for exit code 2. Anything else is a failure. */
function answerOf({ exitCode, stdout, stderr }: HookCommandEnd, { canDeny }: { canDeny: boolean }): unknown {
  const said = stderr.trim();
  if (exitCode === DENIED && canDeny) return { deny: said };
  if (exitCode !== 0) {
    const how = exitCode === null ? "The hook was killed by a signal" : `The hook exited with code ${exitCode}`;
    throw new Error(said === "" ? `${how}.` : `${how}: ${said}`);
  }
  // The output of hooks that run afterwards is ignored.
  if (!canDeny || stdout.trim() === "") return undefined;
  try {
    return JSON.parse(stdout) as unknown;
  } catch {
    throw new Error("The hook's output is not JSON.");
  }
}
