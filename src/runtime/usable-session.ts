import type { AgentDefinition } from "../core/agent-definition.ts";
import type { AuthProvider } from "../core/auth-provider.ts";
import { CapstanError } from "../core/errors.ts";
import { unservedBy } from "../core/provider-limits.ts";
import type { SessionRecord } from "../core/store.ts";
import { sandboxOf } from "./sandbox.ts";
import type { RuntimeDeps } from "./open-sessions.ts";
import { sessionTools } from "./custom-tools.ts";
import { guarded } from "./programs/guarded-functions.ts";
import type { Pins } from "./programs/pins.ts";
import { ProgramGuard } from "./programs/program-guard.ts";
import { hookMatchers } from "./hooks-list.ts";
import { withHostVariables } from "./host-variables.ts";
import type { SessionOptions } from "./session-options.ts";

/** Rejects with what is wrong with the agent, the place or what the program gives, before anything is stored or started. */
export async function requireUsable(
  {
    engine,
    loadFunctions,
    isTrustedFile,
    variable,
    provider,
    ...host
  }: Pick<
    RuntimeDeps,
    "engine" | "loadFunctions" | "isTrustedFile" | "variable" | "provider" | "home" | "capstanHome" | "secretFiles"
  >,
  record: Pick<SessionRecord, "agent" | "cwd" | "source" | "environment">,
  { tools: given, hooks, variables = {}, pins }: SessionOptions & { readonly pins: Pins | undefined },
): Promise<void> {
  const { agent, cwd, environment } = record;
  withHostVariables(record, variable);
  const sandbox = sandboxOf({ ...host, record, stateDir: host.capstanHome, variables });
  const programs = new ProgramGuard({ ...record, isTrustedFile, pins: () => pins });
  const tools = await sessionTools(guarded(loadFunctions, programs), agent, given);
  const matchers = hookMatchers(agent.hooks, hooks);
  engine.validate({ agent, cwd, tools, sandbox, limits: environment.limits, matchers });
  requireServed(agent, agent.auth ?? provider);
}

function requireServed(agent: AgentDefinition, provider: AuthProvider | undefined): void {
  const problems = provider === undefined ? [] : unservedBy(provider, agent);
  if (problems.length > 0) throw new CapstanError("invalid_agent", `${problems.join(". ")}.`, { data: { problems } });
}
