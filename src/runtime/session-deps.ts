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

/** What the runtime puts together for a session. */
export interface SessionParts {
  readonly record: SessionRecord;
  readonly store: Store;
  readonly log: SessionLog;
  readonly feed: Feed;
  readonly engines: Engines;
  readonly gateway: Gateway;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly stateDir: string;
  readonly workspace: Workspace;
  /** Capstan's own directory, which no agent may look into. */
  readonly capstanHome: string;
  /** Files of the host that are secret wherever they lie: the audit key, credentials. */
  readonly secretFiles: readonly string[];
  readonly isGone: (owner: LeaseOwner) => boolean;
  readonly variables: Readonly<Record<string, string>>;
  /** The agent's MCP servers with the host's variables put in, which its definition only refers to. */
  readonly servers: AgentDefinition["mcp_servers"];
  readonly tools: readonly Tool[];
  /** The rules of the agent, read once. */
  readonly rules: RuleSet;
  /** The home of the person whose files the agent works on: what `~` means in a rule. */
  readonly home: string;
  readonly ask: AskPermission | undefined;
  /** An idle process is ended after this many milliseconds. */
  readonly hibernateAfterMs: number;
  readonly output: OutputCheck<unknown> | undefined;
  /** Prices, and the limits of agents, projects and days. */
  readonly budgets: Budgets;
  /** The program's own; those of the agent are in its definition. */
  readonly givenHooks: SessionHooks | undefined;
  readonly runHookCommand: RunHookCommand;
  /** Lets the agent's programs run only as they were at the start, or as trusted since. */
  readonly programs: ProgramGuard;
  readonly admission: Admission;
  readonly processes: Processes;
  /** Gives the lease back. */
  readonly release: () => Promise<void>;
}

/** What a session in motion needs. */
export interface SessionDeps extends SessionParts {
  readonly userHooks: UserHooks;
  readonly checkpoints: Checkpoints;
  readonly configuration: ConfigurationWatch;
}
