import type { AgentDefinition } from "../../core/agent/agent-definition.ts";
import type { AuditReport } from "../../core/session/audit.ts";
import type { BudgetSettings } from "../../core/money/budget-schema.ts";
import type { EnvironmentDefinition } from "../../core/environment/environment.ts";
import type { LedgerStore } from "../../core/money/ledger.ts";
import type { SessionQuery, SessionSummary, Store } from "../../core/ports/store.ts";
import type { SuiteRunStore } from "../../core/ports/suite-run-store.ts";
import type { SuiteRun } from "../../core/suite/suite-run.ts";
import type { WireAgentCheck } from "../../protocol/api/agent-check.ts";
import type { WireCredential, WireModel } from "../../protocol/api/host.ts";
import type { WireTrust } from "../../protocol/api/trust.ts";
import { notSupported } from "../../protocol/v1/refusal.ts";
import type { PolicyHost } from "../../runtime/policy/policy-check.ts";
import type { StartOptions } from "../../runtime/session-options.ts";
import type { ReplayRequest } from "../../runtime/policy/policy-replay.ts";
import type { ServerDeps } from "../http/context.ts";
import type { HeavyCaller } from "../heavy/slots.ts";
import type { HeavyLimits } from "../heavy/heavy-limits.ts";

/** Additional dependencies of `/api`. Routes whose port is missing answer that they are not supported. */
export interface ApiDeps extends ServerDeps {
  readonly ledger?: Pick<LedgerStore, "lines" | "standings">;
  /** The configured limits beyond a single session. */
  readonly budgets?: BudgetSettings;
  /** The projects whose spending is counted together with this one's. Default: only the project itself. */
  readonly countedWith?: (project: string) => readonly string[];
  readonly policy?: PolicyHost;
  readonly audit?: {
    /** Checks the whole register, and all sessions or one of them; returns what belongs to the project. */
    readonly verify: (
      query: { readonly project: string; readonly session?: string | undefined },
      asking: HeavyCaller,
    ) => Promise<AuditReport>;
  };
  /** Replays recorded decisions against rules. Returns the answer's JSON. */
  readonly replayPolicy?: (request: ReplayRequest, asking: HeavyCaller) => Promise<Uint8Array>;
  /** Finds sessions by words or by part of their id. */
  readonly findSessions?: (
    wanted: { readonly query: SessionQuery; readonly named?: string | undefined; readonly limit: number },
    asking: HeavyCaller,
  ) => Promise<readonly SessionSummary[]>;
  /** The models that the upstream offers. Rejects with `credential_missing` if there is no credential. */
  readonly models?: () => Promise<readonly WireModel[]>;
  /** Every credential source, without any part of a secret. */
  readonly credentials?: () => Promise<readonly CredentialListing[]>;
  /** Finds problems of an agent without a session; connects to its MCP servers. */
  readonly checkAgent?: (
    agent: AgentDefinition,
    where: { readonly project: string; readonly signal: AbortSignal },
  ) => Promise<AgentFindings>;
  /** The stored logs, which contain no secrets. */
  readonly log?: Pick<Store, "head" | "events">;
  /** Returns the id of the project that a directory belongs to. */
  readonly projectOf?: (directory: string) => string;
  /** Returns a session's log as the bytes of an archive. */
  readonly archive?: (sessionId: string, asking: HeavyCaller) => AsyncIterable<Uint8Array>;
  /** Returns the saved output of a session's call. */
  readonly output?: (sessionId: string, call: string) => Promise<Buffer>;
  /** The agent and environment of sessions that name none: the same as for `capstan run` in the project's directory. */
  readonly defaults?: (project: string) => Promise<ProjectDefaults>;
  /** Limits on git's work for one request. */
  readonly heavyLimits?: HeavyLimits;
  readonly suites?: SuitePort;
  readonly trust?: TrustPort;
}

/** A project file, and what it would widen. */
export type TrustListing = WireTrust;

/** Trust in a project's files. */
export interface TrustPort {
  /** The project's current files. */
  readonly list: (project: string) => Promise<readonly TrustListing[]>;
  /** Trusts exactly the content with this hash; undefined if no file of the project has it now. */
  readonly add: (project: string, hash: string, by: string) => Promise<TrustListing | undefined>;
  /** Resolves to whether the content with this hash was trusted. */
  readonly remove: (project: string, hash: string) => Promise<boolean>;
}

/** The results of an agent check, without the agent's identity. */
export type AgentFindings = Pick<WireAgentCheck, "problems" | "notes" | "mcp_servers">;

/** A credential source, as shown to remote callers. */
export type CredentialListing = WireCredential;

export interface SuitePort {
  readonly runs: Omit<SuiteRunStore, "add">;
  /** The report of a run, and its content security policy. */
  readonly page: (run: SuiteRun) => Promise<{ readonly html: string; readonly policy: string }>;
}

export interface ProjectDefaults {
  readonly agent: AgentDefinition;
  readonly environment: EnvironmentDefinition;
  /** Absolute: where sessions work. Undefined if the project has no directory on this server. */
  readonly directory: string | undefined;
  /** The project settings that have no effect; undefined if all take effect. */
  readonly withheld?: StartOptions["withheld"];
}

/** Returns the port, or throws an error that names what is missing. */
export function requirePort<Port>(port: Port | undefined, what: string): Port {
  if (port !== undefined) return port;
  throw notSupported(what, "This server is not configured for it.");
}
