import type { Approval } from "../../core/session/approval.ts";
import { CapstanError } from "../../core/errors.ts";
import type { AgentRecord, EnvironmentRecord, FileRecord } from "../../core/ports/registry.ts";
import type { SessionRecord } from "../../core/ports/store.ts";
import type { ServerDeps } from "./context.ts";
import { ApiFailure } from "./failure.ts";

/** Records of other projects look like missing records to the caller. */

type InRuntime = Pick<ServerDeps, "runtime">;
type InRegistry = Pick<ServerDeps, "registry">;

export async function findSession({ runtime }: InRuntime, project: string, id: string): Promise<SessionRecord> {
  const found = await runtime.session(id);
  if (found === undefined || found.project !== project) throw notFound("session", id);
  return found;
}

export async function findApproval(deps: InRuntime, project: string, id: string): Promise<Approval> {
  const found = await approvalIfAny(deps, id);
  if (found === undefined || found.project !== project) throw notFound("approval", id);
  return found;
}

/** From any project. */
export async function approvalIfAny({ runtime }: InRuntime, id: string): Promise<Approval | undefined> {
  return runtime.approvals.get(id).catch((thrown: unknown) => {
    if (thrown instanceof CapstanError && thrown.code === "not_found") return undefined;
    throw thrown;
  });
}

/** The newest version, or the given one. */
export async function findAgent(
  { registry }: InRegistry,
  project: string,
  id: string,
  version?: number,
): Promise<AgentRecord> {
  const found = await registry.agents.get(project, id, version);
  if (found === undefined) throw notFound(version === undefined ? "agent" : `version ${version} of the agent`, id);
  return found;
}

/** The saved version of the agent that a session was created from. */
export async function storedAgentOf({ registry }: InRegistry, record: SessionRecord): Promise<AgentRecord | undefined> {
  const { agentRef, project } = record;
  return agentRef === null ? undefined : registry.agents.get(project, agentRef.id, agentRef.version);
}

export async function findEnvironment(
  { registry }: InRegistry,
  project: string,
  id: string,
): Promise<EnvironmentRecord> {
  const found = await registry.environments.get(project, id);
  if (found === undefined) throw noEnvironment(id);
  return found;
}

/** Expired files count as missing. */
export async function findStoredFile(
  { registry, clock }: Pick<ServerDeps, "registry" | "clock">,
  project: string,
  id: string,
): Promise<FileRecord> {
  const found = await registry.files.get(project, id, clock.now());
  if (found === undefined) throw notFound("file", id);
  return found;
}

/** The Managed Agents API has a separate error code for this. */
export function noEnvironment(id: string): ApiFailure {
  return notFound("environment", id, "environment_not_found");
}

export function notFound(what: string, id: string, code = "not_found"): ApiFailure {
  return new ApiFailure("not_found_error", `Not found: ${what} ${JSON.stringify(id)}. List them to find the id.`, {
    details: { error_code: code },
  });
}
