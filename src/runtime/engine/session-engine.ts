import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import type { Engines } from "../../core/ports/engine.ts";
import { problemsWithEngine } from "../../core/ports/engine-capabilities.ts";
import { DEFAULT_ENGINE, type EngineName, knownEngine, unknownEngine } from "../../core/agent/engine-name.ts";
import { CapstanError } from "../../core/errors.ts";
import type { EventDraft } from "../../core/events/events.ts";
import type { SessionState } from "../../core/session/state.ts";
import { hookMatchers } from "../hooks/hooks-list.ts";
import { sessionSandbox } from "../protected/sandbox.ts";
import type { HookSources, SessionBasics, SessionProcess, SessionSurroundings, ToolSettings } from "../session-deps.ts";

/** An agent that names no engine gets the host's default. Its sessions stay on it, whatever a later host prefers. */
export function withEngine(agent: AgentDefinition, { default: name }: Pick<Engines, "default">): AgentDefinition {
  return agent.engine !== undefined || name === DEFAULT_ENGINE ? agent : { ...agent, engine: name };
}

/** The engine that runs the turn under way, or the next one. Throws if only a later version of Capstan has it. */
export function engineInForce(agent: AgentDefinition, state: Pick<SessionState, "engine">): EngineName {
  const name = state.engine ?? agent.engine ?? DEFAULT_ENGINE;
  const known = knownEngine(name);
  if (known === undefined) throw new CapstanError("engine_missing", `${unknownEngine(name)}, or use a later Capstan.`);
  return known;
}

/** The event that changes a session's engine; none when it already has that engine. */
export function engineChange(
  agent: AgentDefinition,
  state: Pick<SessionState, "engine" | "nextEngine">,
  engine: EngineName,
): EventDraft[] {
  const from = engineInForce(agent, state);
  return (state.nextEngine ?? from) === engine ? [] : [{ type: "capstan.engine_changed", engine, from }];
}

type FittingDeps = Pick<SessionBasics, "record" | "log"> &
  SessionSurroundings &
  Pick<SessionProcess, "engines"> &
  Pick<ToolSettings, "tools"> &
  Pick<HookSources, "givenHooks">;

/** Rejects with what the engine cannot do for the session. */
export async function requireFittingEngine(deps: FittingDeps, name: EngineName): Promise<void> {
  const { engines, record, tools, givenHooks } = deps;
  const { agent, cwd, environment } = record;
  const engine = await engines.load(name);
  const wanted = { agent, sandbox: sessionSandbox(deps), limits: environment.limits };
  requireNoProblems(problemsWithEngine(engine, wanted));
  engine.validate({ ...wanted, cwd, tools, matchers: hookMatchers(agent.hooks, givenHooks) });
}

/** Throws if there are problems with the agent. */
export function requireNoProblems(problems: readonly string[]): void {
  if (problems.length > 0)
    throw new CapstanError("invalid_agent", problems.map((problem) => problem.replace(/\.?$/, ".")).join(" "), {
      data: { problems },
    });
}
