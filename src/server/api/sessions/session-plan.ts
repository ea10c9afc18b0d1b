import type { AgentDefinition } from "../../../core/agent/agent-definition.ts";
import { type EnvironmentDefinition, parseEnvironment } from "../../../core/environment/environment.ts";
import { CapstanError } from "../../../core/errors.ts";
import type { SessionRecord } from "../../../core/ports/store.ts";
import type { HostAddresses } from "../../../core/ports/workspace.ts";
import type { z } from "zod";
import type { StartOptions } from "../../../runtime/session-options.ts";
import type { Caller } from "../../http/context.ts";
import { findAgent, findEnvironment } from "../../http/lookup.ts";
import { publicSource } from "../../files/repositories.ts";
import { requireUsableAgent } from "../agents.ts";
import type { sessionInputComponent } from "../document/components.ts";
import { type ApiDeps, requirePort } from "../deps.ts";
import { lowerLimits, requireNoRules, requireStricter } from "../limits.ts";
import { chosenDirectory, projectDirectory } from "../session-directory.ts";

type SessionBody = z.output<typeof sessionInputComponent>;

/** The agent, environment and directory to start a session with. */
interface SessionPlan {
  readonly agent: AgentDefinition;
  readonly agentRef: SessionRecord["agentRef"];
  readonly environment: EnvironmentDefinition;
  readonly environmentId?: string;
  /** The resolved addresses of the host of the repository to clone. */
  readonly hostAddresses?: HostAddresses;
  /** Absent for a workspace that starts empty. */
  readonly cwd?: string;
  readonly withheld?: StartOptions["withheld"];
}

export async function planSession(deps: ApiDeps, caller: Caller, body: SessionBody): Promise<SessionPlan> {
  const { definition, ref } = await agentFor(deps, caller, body);
  const { environment, environmentId, directory, hostAddresses } = await environmentFor(deps, caller, body);
  const isEmpty = environment.workspace.kind === "copy" && environment.workspace.mounts.length === 0;
  const cwd =
    body.cwd === undefined
      ? (directory ?? (isEmpty ? undefined : await defaultDirectoryFor(deps, caller)))
      : await chosenDirectory(deps, { caller, cwd: body.cwd, given: directory });
  return {
    agent: withWishes(caller, definition, body),
    agentRef: ref,
    environment,
    ...(environmentId !== undefined && { environmentId }),
    ...(hostAddresses !== undefined && { hostAddresses }),
    ...(cwd !== undefined && { cwd }),
    withheld: await withheldFrom(deps, caller, body),
  };
}

/** The project settings withheld from the session; undefined if it uses none of them. */
async function withheldFrom(deps: ApiDeps, { project }: Caller, body: SessionBody): Promise<StartOptions["withheld"]> {
  const hasOwnAgent = body.agent !== undefined || body.agent_definition !== undefined;
  const hasOwnEnvironment = body.environment !== undefined || body.environment_id !== undefined;
  return hasOwnAgent && hasOwnEnvironment ? undefined : (await deps.defaults?.(project))?.withheld;
}

interface AgentWish {
  readonly agent?: { readonly id: string; readonly version?: number | undefined } | undefined;
  readonly agent_definition?: AgentDefinition | undefined;
}

export async function agentFor(
  deps: ApiDeps,
  caller: Caller,
  { agent, agent_definition: given }: AgentWish,
): Promise<{ readonly definition: AgentDefinition; readonly ref: SessionRecord["agentRef"] }> {
  if (agent !== undefined && given !== undefined)
    throw new CapstanError("invalid_input", "agent and agent_definition exclude each other. Use one of them.");
  if (agent !== undefined) {
    const record = await findAgent(deps, caller.project, agent.id, agent.version);
    requireUsableAgent(record);
    return { definition: record.definition, ref: { id: record.id, version: record.version } };
  }
  if (given !== undefined) {
    requireAdmin(caller, "agent_definition", "a saved agent: agent.id");
    return { definition: given, ref: null };
  }
  const defaults = requirePort(deps.defaults, "a session without an agent (set agent.id or agent_definition)");
  return { definition: (await defaults(caller.project)).agent, ref: null };
}

async function environmentFor(
  deps: ApiDeps,
  caller: Caller,
  { environment_id: id, environment: given }: SessionBody,
): Promise<Pick<SessionPlan, "environment" | "environmentId" | "hostAddresses"> & { directory?: string | null }> {
  if (id !== undefined && given !== undefined)
    throw new CapstanError("invalid_input", "environment_id and environment exclude each other. Use one of them.");
  if (id !== undefined) {
    const record = await findEnvironment(deps, caller.project, id);
    requireUsableAgent(record);
    const { hostAddresses } = await publicSource(deps.settings, record.definition);
    return { environment: record.definition, environmentId: id, directory: record.directory, hostAddresses };
  }
  if (given !== undefined) {
    requireAdmin(caller, "environment", "a saved environment: environment_id");
    const { hostAddresses } = await publicSource(deps.settings, given);
    return { environment: given, hostAddresses };
  }
  return { environment: (await deps.defaults?.(caller.project))?.environment ?? parseEnvironment({}) };
}

/** An inline definition is unreviewed: it may run programs, and work anywhere without a sandbox. */
function requireAdmin({ role }: Caller, field: string, instead: string): void {
  if (role !== "admin")
    throw new CapstanError(
      "not_allowed",
      `${field}: only an admin key may pass one with a session; this key has the role ${role}. Use ${instead}.`,
      { data: { role, wanted: "admin" } },
    );
}

/** Where the project's sessions work by default. */
export async function defaultDirectoryFor(deps: ApiDeps, caller: Caller): Promise<string> {
  const directory = await projectDirectory(deps, caller.project);
  if (directory !== undefined) return directory;
  throw new CapstanError(
    "cwd_missing",
    `cwd: the project ${caller.project} has no directory on this server. Use a saved environment with a directory or, with an admin key, set cwd.`,
  );
}

/** Applies the caller's choices to the agent. Never removes deny or ask rules. */
function withWishes(caller: Caller, agent: AgentDefinition, wishes: SessionBody): AgentDefinition {
  const { engine, model, mode, allow = [], budget = {}, output_schema } = wishes;
  requireStricter(caller, mode, agent);
  requireNoRules(caller, allow);
  const { permissions } = agent;
  return {
    ...agent,
    ...(engine !== undefined && { engine }),
    ...(model !== undefined && { model }),
    permissions: { ...permissions, ...(mode !== undefined && { mode }), allow: [...permissions.allow, ...allow] },
    budget: lowerLimits(caller, budget, agent.budget),
    ...(output_schema !== undefined && { output_schema }),
  };
}
