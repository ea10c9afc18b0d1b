import type { Context } from "hono";
import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import type { MessageContent } from "../../core/events/content.ts";
import { CapstanError } from "../../core/errors.ts";
import type { AgentRecord } from "../../core/ports/registry.ts";
import type { SessionRecord } from "../../core/ports/store.ts";
import type { HostAddresses } from "../../core/ports/workspace.ts";
import { changedDefinition } from "../../protocol/v1/agents.ts";
import { invalid, notSupported } from "../../protocol/v1/refusal.ts";
import { mountPathIn, repositoryName, requireApart, type ResourceParams } from "../../protocol/v1/resources.ts";
import { requireNoVaults, type SessionCreate, sessionCreate, usdOf } from "../../protocol/v1/sessions.ts";
import type { GivenFile, GivenRepository } from "../../runtime/session-options.ts";
import { readBody } from "../body/read.ts";
import { type Env, requireRole, type ServerDeps } from "../http/context.ts";
import { firstEvent } from "../stream/turn-start.ts";
import { findAgent, findEnvironment, findStoredFile } from "../http/lookup.ts";
import { publicRepository, publicSource } from "../files/repositories.ts";
import { FileRoom, readMessageContent } from "../files/content.ts";
import type { V1Deps } from "./deps.ts";
import { archivedEnvironment } from "./environments.ts";
import { requireMetadata } from "./request.ts";

/** Creates a session and sends its first messages. Validates everything before it creates anything. */
export async function createSession(deps: V1Deps, c: Context<Env>): Promise<SessionRecord> {
  const { project, id: callerId } = requireRole(c, "operator");
  const body = await readBody(c, sessionCreate);
  const { metadata = {}, title } = body;
  requireMetadata(metadata, metadata);
  requireNoVaults(body.vault_ids);
  const { agent, definition } = await agentFor(deps, c, body);
  const environment = await findEnvironment(deps, project, body.environment_id);
  if (environment.archivedAt !== null) throw archivedEnvironment(environment.id, "used for a new session");
  const { hostAddresses } = await publicSource(deps.settings, environment.definition);
  const given = await givenContent(deps, project, body.resources ?? []);
  const messages = await firstMessages(deps, project, body.initial_events ?? []);
  const { runtime, watchers } = deps;
  if (messages.length > 0) runtime.requireRoom();
  const starting = runtime.startSession({
    agent: definition,
    environment: environment.definition,
    project,
    metadata,
    agentRef: { id: agent.id, version: agent.version },
    environmentId: environment.id,
    ...(environment.directory !== null && { cwd: environment.directory }),
    ...(title != null && { title }),
    ...given,
    hostAddresses: { ...hostAddresses, ...given.hostAddresses },
    signal: c.req.raw.signal,
  });
  const session = await starting.catch((thrown: unknown) => {
    throw withoutTokens(thrown, given.repositories);
  });
  if (messages.length > 0) watchers.noteSent({ sessionId: session.id, callerId }, 0);
  try {
    for (const content of messages) await firstEvent(session.send(content));
  } catch (thrown) {
    // The caller does not know the session's id, so nobody else would delete it.
    await runtime.delete(session.id).catch(() => {});
    throw thrown;
  }
  return session.record;
}

/** Git's message about a repository goes to the caller and may contain their token. */
function withoutTokens(thrown: unknown, repositories: readonly GivenRepository[]): unknown {
  if (!(thrown instanceof CapstanError) || repositories.length === 0) return thrown;
  const tokens = repositories.flatMap(({ token }) => (token === undefined ? [] : [token, encodeURIComponent(token)]));
  const message = tokens.reduce((text, token) => text.replaceAll(token, "[redacted:token]"), thrown.message);
  const { code, data } = thrown;
  const isOfGit = code === "workspace_failed" && message.startsWith("git ");
  return new CapstanError(isOfGit ? "workspace_invalid" : code, message, { data });
}

async function agentFor(
  deps: ServerDeps,
  c: Context<Env>,
  { agent: given, budget }: SessionCreate,
): Promise<{ readonly agent: AgentRecord; readonly definition: AgentDefinition }> {
  const { project } = c.get("caller");
  const reference = typeof given === "string" ? { type: "agent" as const, id: given, version: undefined } : given;
  const agent = await findAgent(deps, project, reference.id, reference.version);
  if (agent.archivedAt !== null)
    throw invalid(`The agent ${agent.id} is archived and cannot be used for a new session. Use another one.`);
  const { type, id: _id, version: _version, ...overrides } = reference;
  // Only those who define agents decide what they may do.
  if (type === "agent_with_overrides" && ("tools" in overrides || "mcp_servers" in overrides)) requireRole(c, "admin");
  const definition =
    type === "agent_with_overrides" ? changedDefinition(agent.definition, overrides) : agent.definition;
  if (budget === undefined) return { agent, definition };
  const usd = usdOf(budget);
  requireWithin(usd, agent.definition.budget.usd);
  return { agent, definition: { ...definition, budget: { ...definition.budget, usd } } };
}

/** A session's limit may be lower than its agent's, not higher. */
export function requireWithin(usd: number, limit: number | undefined): void {
  if (limit !== undefined && usd > limit)
    throw invalid(`budget: the agent's limit is $${limit}. Set a lower limit, or omit it.`);
}

async function firstMessages(
  deps: ServerDeps,
  project: string,
  events: NonNullable<SessionCreate["initial_events"]>,
): Promise<readonly MessageContent[]> {
  const messages: MessageContent[] = [];
  const place = { project, room: new FileRoom() };
  for (const event of events) {
    if (event.type === "user.define_outcome") throw noOutcomes();
    messages.push(await readMessageContent(deps, place, event.content));
  }
  return messages;
}

export function noOutcomes(): Error {
  return notSupported(
    "user.define_outcome",
    "Describe what you want in a user.message, and check the result yourself.",
  );
}

interface Given {
  readonly files: readonly GivenFile[];
  readonly repositories: readonly GivenRepository[];
  readonly hostAddresses: HostAddresses;
}

async function givenContent(deps: ServerDeps, project: string, resources: readonly ResourceParams[]): Promise<Given> {
  const files: GivenFile[] = [];
  const repositories: GivenRepository[] = [];
  const addresses: HostAddresses[] = [];
  for (const resource of resources) {
    switch (resource.type) {
      case "memory_store":
        throw notSupported("resources of type memory_store", "Put what the agent must know into a file.");
      case "file":
        files.push(await givenFile(deps, project, resource));
        break;
      case "github_repository": {
        const { url, hostAddresses } = await publicRepository(deps.settings, resource.url);
        addresses.push(hostAddresses);
        repositories.push({
          url,
          checkout: resource.checkout ?? null,
          mountPath: mountPathIn(resource.mount_path, repositoryName(resource.url)),
          ...(resource.authorization_token !== undefined && { token: resource.authorization_token }),
        });
        break;
      }
    }
  }
  requireApart([...files, ...repositories].map(({ mountPath }) => mountPath));
  return { files, repositories, hostAddresses: Object.assign({}, ...addresses) as HostAddresses };
}

export async function givenFile(
  deps: ServerDeps,
  project: string,
  { file_id: fileId, mount_path: path }: { readonly file_id: string; readonly mount_path?: string | null | undefined },
): Promise<GivenFile> {
  const { id, filename } = await findStoredFile(deps, project, fileId);
  return { fileId: id, path: deps.contents.path(id), mountPath: mountPathIn(path, `uploads/${filename}`) };
}
