import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import type { AuthProvider } from "../../core/auth/auth-provider.ts";
import { problemsWithEngine } from "../../core/ports/engine-capabilities.ts";
import { DEFAULT_ENGINE, type EngineName } from "../../core/agent/engine-name.ts";
import { unservedBy } from "../../core/agent/provider-limits.ts";
import type { SessionRecord } from "../../core/ports/store.ts";
import { sandboxOf } from "../protected/sandbox.ts";
import type { RuntimeDeps } from "../open-sessions.ts";
import { sessionTools } from "../calls/custom-tools.ts";
import { guardFunctions } from "../programs/guarded-functions.ts";
import type { Pins } from "../programs/pins.ts";
import { ProgramGuard } from "../programs/program-guard.ts";
import { hookMatchers } from "../hooks/hooks-list.ts";
import { withHostVariables } from "../engine/host-variables.ts";
import { requireNoProblems } from "../engine/session-engine.ts";
import type { SessionOptions } from "../session-options.ts";

/** Rejects if the agent, its directory or what the program gives cannot work, before anything is stored or started. */
export async function requireUsableSession(
  {
    engines,
    loadFunctions,
    isTrustedFile,
    variable,
    provider,
    ...host
  }: Pick<
    RuntimeDeps,
    "engines" | "loadFunctions" | "isTrustedFile" | "variable" | "provider" | "home" | "capstanHome" | "secretFiles"
  >,
  record: Pick<SessionRecord, "agent" | "cwd" | "source" | "environment">,
  { tools: given, hooks, variables = {}, pins }: SessionOptions & { readonly pins: Pins | undefined },
  name: EngineName = record.agent.engine ?? DEFAULT_ENGINE,
): Promise<void> {
  const { agent, cwd, environment } = record;
  withHostVariables(record, variable);
  const sandbox = sandboxOf({ ...host, record, stateDir: host.capstanHome, variables });
  const programs = new ProgramGuard({ ...record, isTrustedFile, pins: () => pins });
  const tools = await sessionTools(guardFunctions(loadFunctions, programs), agent, given);
  const matchers = hookMatchers(agent.hooks, hooks);
  const engine = await engines.load(name);
  const wanted = { agent, sandbox, limits: environment.limits };
  requireNoProblems(problemsWithEngine(engine, wanted));
  engine.validate({ ...wanted, cwd, tools, matchers });
  requireServed(agent, agent.auth ?? provider);
}

function requireServed(agent: AgentDefinition, provider: AuthProvider | undefined): void {
  requireNoProblems(provider === undefined ? [] : unservedBy(provider, agent));
}
