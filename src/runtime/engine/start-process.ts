import { engineAgentIdOf } from "../../core/ports/clock.ts";
import type { Mode } from "../../core/agent/agent-definition.ts";
import type { EngineName } from "../../core/agent/engine-name.ts";
import type { EventDraft } from "../../core/events/events.ts";
import type { EngineHost, EngineSession, EngineStart, SubagentLine } from "../../core/ports/engine.ts";
import type { GatewayAccess, GatewaySession } from "../../core/ports/gateway.ts";
import type { SessionRecord, SessionResource } from "../../core/ports/store.ts";
import { conversationOf } from "../../core/session/conversation.ts";
import { historyOf } from "../../core/session/history.ts";
import { threadDepth } from "../../core/session/state.ts";
import type { FilesState } from "../../core/session/state-files.ts";
import { sessionSandbox } from "../protected/sandbox.ts";
import type {
  SessionBasics,
  SessionPrograms,
  SessionProcess,
  SessionSurroundings,
  ToolSettings,
} from "../session-deps.ts";

export type StartDeps = SessionBasics &
  SessionSurroundings &
  SessionPrograms &
  Pick<ToolSettings, "tools"> &
  Pick<SessionProcess, "engines" | "gateway" | "servers">;

export interface EngineStartOptions {
  readonly start: EngineStart;
  /** The subagent that the process drives alone. */
  readonly line?: SubagentLine;
}

/** An engine's session, and its way to the model. */
export interface Live {
  readonly session: EngineSession;
  readonly access: GatewayAccess;
}

interface Start extends EngineStartOptions {
  readonly engine: EngineName;
  readonly mode: () => Mode;
  readonly host: EngineHost;
  /** Meters the requests of the process. */
  readonly requests: GatewaySession;
  /** Stops the start. */
  readonly signal: AbortSignal;
}

/** Opens the session on an engine, with the conversation from the log. */
export async function startProcess(
  deps: StartDeps,
  { engine: name, mode, host, requests, signal, start, line }: Start,
): Promise<Live> {
  const { record, store, log, engines, gateway, stateDir, variables, tools, servers } = deps;
  const from = line === undefined ? Math.max(0, log.state.historyFrom - 1) : 0;
  const events = await log.events({ after: from });
  const { resources } = (await store.session(record.id)) ?? record;
  const agent = { ...record.agent, ...(servers !== undefined && { mcp_servers: servers }) };
  const engine = await engines.load(name);
  const serverFiles = deps.programs.ofServers(record.agent.mcp_servers ?? {});
  const access = await gateway.admit(requests);
  log.hide({ name: "ANTHROPIC_AUTH_TOKEN", value: access.token });
  try {
    const session = await engine.open(
      {
        sessionId: record.id,
        agent: { ...agent, instructions: withWorkspaceNote({ ...record, resources }, log.state.files.workspace) },
        model: log.state.model ?? record.agent.model,
        mode: mode(),
        cwd: record.cwd,
        stateDir,
        variables,
        gateway: access,
        sandbox: sessionSandbox(deps),
        limits: record.environment.limits,
        serverFiles,
        tools,
        transcripts: store.transcripts,
        history: historyOf(
          conversationOf(events).map(({ event }) => event),
          line?.threadId,
        ),
        subagents: Object.entries(log.state.threads).map(([id, { agentName, callId }]) => ({
          engineAgentId: engineAgentIdOf(id),
          name: agentName,
          callId,
          depth: threadDepth(log.state, id),
        })),
        lineHistory: async (threadId) => {
          const all = conversationOf(await log.events());
          return historyOf(
            all.map(({ event }) => event),
            threadId,
          );
        },
        start,
        ...(line !== undefined && { line }),
        signal,
      },
      host,
    );
    return { session, access };
  } catch (thrown) {
    await access.close();
    throw thrown;
  }
}

/** The event that says an engine has the session open. */
export function processStartedEvent(session: EngineSession, engine: EngineName): EventDraft<"capstan.process_started"> {
  const { pid, history, contained, sandbox, sandboxMissing, outside = [] } = session;
  return {
    type: "capstan.process_started",
    ...(pid !== undefined && { pid }),
    engine,
    history,
    contained,
    ...(sandbox !== undefined && { sandbox }),
    ...(sandboxMissing !== undefined && { sandbox_missing: sandboxMissing }),
    ...(outside.length > 0 && { outside: [...outside] }),
  };
}

/**
 * The instructions, and a short note on the workspace. The note is the same for every process and every session with such
 * a workspace: it contains no number, branch name or path of the host, so that the model's cache stays valid.
 */
function withWorkspaceNote({ agent, resources }: SessionRecord, workspace: FilesState["workspace"]): string {
  const note = workspace && noteOn(workspace, resources);
  return [agent.instructions, note].filter((part) => part !== undefined && part !== "").join("\n\n");
}

function noteOn(
  { kind, mounts = [] }: NonNullable<FilesState["workspace"]>,
  resources: readonly SessionResource[],
): string | undefined {
  if (kind === "in-place") return undefined;
  if (kind === "worktree")
    return "Your working directory is a git worktree of your own, on a branch of its own. Your changes stay in it until a person takes them over.";
  if (kind === "clone")
    return "Your working directory is a clone of your own of a git repository. Your changes stay in it until a person takes them over.";
  const lines = mounts.map(({ target, readOnly }) => `- ${target}${readOnly ? " (read-only)" : ""}`);
  const given = resources.map(({ type, mountPath }) => `- ${mountPath} (${type})`);
  const what = lines.length === 0 ? "is a directory of your own" : "holds copies";
  return [
    `Your working directory ${what}. Your changes stay in it until a person takes them over.`,
    ...lines,
    ...given,
  ].join("\n");
}
