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
import type { Asking } from "../heavy/slots.ts";
import type { HeavyLimits } from "../heavy/work.ts";

/** What `/api` is given besides. Without a port its routes say that they are not offered here. */
export interface ApiDeps extends ServerDeps {
  readonly ledger?: Pick<LedgerStore, "lines" | "standings">;
  /** The limits beyond one session that are in force. */
  readonly budgets?: BudgetSettings;
  /** The projects whose spending counts together with that of one. Default: each by itself. */
  readonly countedWith?: (project: string) => readonly string[];
  readonly policy?: PolicyHost;
  readonly audit?: {
    /** The whole register, and all sessions or one of them; told is what belongs to the project. */
    readonly verify: (
      query: { readonly project: string; readonly session?: string | undefined },
      asking: Asking,
    ) => Promise<AuditReport>;
  };
  /** What rules would make of recorded decisions, as the JSON of the answer. */
  readonly replayPolicy?: (request: ReplayRequest, asking: Asking) => Promise<Uint8Array>;
  /** Sessions that are looked for by words or by a part of their id. */
  readonly findSessions?: (
    wanted: { readonly query: SessionQuery; readonly named?: string | undefined; readonly limit: number },
    asking: Asking,
  ) => Promise<readonly SessionSummary[]>;
  /** The models that the upstream itself offers. Rejects with `credential_missing` when there is none to ask. */
  readonly models?: () => Promise<readonly WireModel[]>;
  /** Every way to a model, without a secret or a part of one. */
  readonly credentials?: () => Promise<readonly ShownCredential[]>;
  /** What is wrong with an agent, as far as can be found without a session; its MCP servers are tried. */
  readonly checkAgent?: (
    agent: AgentDefinition,
    where: { readonly project: string; readonly signal: AbortSignal },
  ) => Promise<AgentFindings>;
  /** The logs as they are stored: without secrets. */
  readonly log?: Pick<Store, "head" | "events">;
  /** The id of the project that a directory belongs to. */
  readonly projectOf?: (directory: string) => string;
  /** A session's log as the bytes of an archive. */
  readonly archive?: (sessionId: string, asking: Asking) => AsyncIterable<Uint8Array>;
  /** All that is kept of what a call of a session gave. */
  readonly output?: (sessionId: string, call: string) => Promise<Buffer>;
  /** What a session is made of that names nothing: as `capstan run` would in the project's directory. */
  readonly defaults?: (project: string) => Promise<ProjectDefaults>;
  /** What git may take for one request. */
  readonly heavyLimits?: HeavyLimits;
  readonly suites?: SuitePort;
  readonly trust?: TrustPort;
}

/** A file of a project, and what it would widen. */
export type ShownTrust = WireTrust;

/** What a person may trust of a project's files. */
export interface TrustPort {
  /** The project's files as they are now. */
  readonly list: (project: string) => Promise<readonly ShownTrust[]>;
  /** Trusts exactly the content with this hash; undefined when no file of the project has it now. */
  readonly add: (project: string, hash: string, by: string) => Promise<ShownTrust | undefined>;
  /** Whether the content with this hash was trusted. */
  readonly remove: (project: string, hash: string) => Promise<boolean>;
}

/** What there is to tell of an agent besides which one it is. */
export type AgentFindings = Pick<WireAgentCheck, "problems" | "notes" | "mcp_servers">;

/** A way to a model, as whoever does not sit at the machine may know it. */
export type ShownCredential = WireCredential;

export interface SuitePort {
  readonly runs: Omit<SuiteRunStore, "add">;
  /** The report of a run, and the policy that a browser is to hold it to. */
  readonly page: (run: SuiteRun) => Promise<{ readonly html: string; readonly policy: string }>;
}

export interface ProjectDefaults {
  readonly agent: AgentDefinition;
  readonly environment: EnvironmentDefinition;
  /** Absolute: where sessions work. Undefined for a project that has no directory on this server. */
  readonly directory: string | undefined;
  /** What of the project's settings has no effect; undefined when all has. */
  readonly withheld?: StartOptions["withheld"];
}

/** The port, or a refusal that names what is missing. */
export function offered<Port>(port: Port | undefined, what: string): Port {
  if (port !== undefined) return port;
  throw notSupported(what, "This server was put together without it.");
}
