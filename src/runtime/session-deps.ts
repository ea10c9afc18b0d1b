import type { AgentDefinition } from "../core/agent/agent-definition.ts";
import type { Clock, Ids } from "../core/ports/clock.ts";
import type { Engines } from "../core/ports/engine.ts";
import type { Gateway } from "../core/ports/gateway.ts";
import type { OutputCheck } from "../core/agent/output.ts";
import type { AskPermission } from "../core/session/approval.ts";
import type { RunHookCommand, SessionHooks } from "../core/ports/hooks.ts";
import type { RuleSet } from "../core/permission/rule-set.ts";
import type { LeaseOwner, SessionRecord, Store } from "../core/ports/store.ts";
import type { Tool } from "../core/ports/tool.ts";
import type { Workspace } from "../core/ports/workspace.ts";
import type { Admission } from "./engine/admission.ts";
import type { Budgets } from "./engine/budgets.ts";
import type { Checkpoints } from "./files/checkpoints.ts";
import type { Feed } from "./log/feed.ts";
import type { UserHooks } from "./hooks/hooks.ts";
import type { ConfigurationWatch } from "./protected/watch-configuration.ts";
import type { ProgramGuard } from "./programs/program-guard.ts";
import type { Processes } from "./engine/processes.ts";
import type { SessionLog } from "./log/session-log.ts";

/** The session itself: who it is, and what it has written. Nearly every part needs it. */
export interface SessionBasics {
  readonly record: SessionRecord;
  readonly store: Store;
  readonly log: SessionLog;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** The directories and variables that decide what the session's calls may reach. */
export interface SessionSurroundings {
  readonly stateDir: string;
  /** Capstan's own directory, which no agent may look into. */
  readonly capstanHome: string;
  /** Files of the host that are secret wherever they lie: the audit key, credentials. */
  readonly secretFiles: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** The home of the person whose files the agent works on: what `~` means in a rule. */
  readonly home: string;
}

/** The tools that are not the engine's own, and who decides about calls. */
export interface ToolSettings {
  readonly tools: readonly Tool[];
  /** The agent's rules, parsed once. */
  readonly rules: RuleSet;
  readonly ask: AskPermission | undefined;
  /** Prices, and the limits of agents, projects and days. */
  readonly budgets: Budgets;
}

/** What starts the session's processes and ends them. */
export interface SessionProcess {
  readonly engines: Engines;
  readonly gateway: Gateway;
  /** The agent's MCP servers with the host's variables put in, which its definition only refers to. */
  readonly servers: AgentDefinition["mcp_servers"];
  readonly processes: Processes;
  /** An idle process is ended after this many milliseconds. */
  readonly hibernateAfterMs: number;
}

/** The host's queue of turns. */
export interface TurnQueue {
  readonly admission: Admission;
}

/** Tells whether the host that holds another session's lease has died. */
export interface OtherHosts {
  readonly isGone: (owner: LeaseOwner) => boolean;
}

/** Lets the agent's programs run only as they were at the start, or as trusted since. */
export interface SessionPrograms {
  readonly programs: ProgramGuard;
}

export interface SessionOutput {
  readonly output: OutputCheck<unknown> | undefined;
}

/** What hooks are made of. */
export interface HookSources {
  /** The program's own; those of the agent are in its definition. */
  readonly givenHooks: SessionHooks | undefined;
  readonly runHookCommand: RunHookCommand;
}

/** What a session is opened with and gives back. */
export interface SessionHold {
  readonly feed: Feed;
  readonly workspace: Workspace;
  /** Gives the lease back. */
  readonly release: () => Promise<void>;
}

/** Everything the runtime puts together for a session. Only the session and its turns take it whole, to hand out parts. */
export interface SessionParts
  extends
    SessionBasics,
    SessionSurroundings,
    ToolSettings,
    SessionProcess,
    TurnQueue,
    OtherHosts,
    SessionPrograms,
    SessionOutput,
    HookSources,
    SessionHold {}

/** What accompanies the turns of a session: hooks, checkpoints, and the watch over its configuration. */
export interface SessionHelpers {
  readonly userHooks: UserHooks;
  readonly checkpoints: Checkpoints;
  readonly configuration: ConfigurationWatch;
}

export interface SessionDeps extends SessionParts, SessionHelpers {}
