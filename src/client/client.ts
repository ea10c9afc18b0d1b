import type { List } from "../protocol/api/common.ts";
import type { WireAuditReport, WireCaller, WireCredential, WireModel, WireProject } from "../protocol/api/host.ts";
import type { LedgerSearch, WireBudgets, WireLedger } from "../protocol/api/ledger.ts";
import type { CheckInput, ReplayInput, WireExplanation, WireReplay } from "../protocol/api/policy.ts";
import { Approvals, Grants } from "./approvals.ts";
import { Files } from "./files.ts";
import { type ClientOptions, Http } from "./http.ts";
import { Agents, Environments, Keys } from "./registry.ts";
import { Sessions } from "./sessions.ts";
import { Suites } from "./suites.ts";
import { Trust } from "./trust.ts";
import { Webhooks } from "./webhooks.ts";

/**
 * The typed client for Capstan's own endpoints. For the Managed Agents API, use Anthropic's client with the same
 * address.
 */
export interface CapstanClient {
  readonly sessions: Sessions;
  readonly approvals: Approvals;
  readonly grants: Grants;
  readonly files: Files;
  readonly agents: Agents;
  readonly environments: Environments;
  readonly keys: Keys;
  readonly suites: Suites;
  readonly webhooks: Webhooks;
  /** The key's identity, role and project. */
  whoami(): Promise<WireCaller>;
  projects(): Promise<WireProject[]>;
  models(): Promise<WireModel[]>;
  /** The credential sources, and which of their parts the server has. */
  credentials(): Promise<WireCredential[]>;
  /** Explains the decision about a call. */
  checkPolicy(input: CheckInput): Promise<WireExplanation>;
  /** Replays recorded decisions with different rules. */
  replayPolicy(input: ReplayInput): Promise<WireReplay>;
  ledger(query?: LedgerSearch): Promise<WireLedger>;
  /** The configured limits, and their current use in the key's project. */
  budgets(): Promise<WireBudgets>;
  verifyAudit(query?: { session_id?: string }): Promise<WireAuditReport>;
  readonly trust: Trust;
}

export function createClient(options: ClientOptions): CapstanClient {
  const http = new Http(options);
  return {
    sessions: new Sessions(http),
    approvals: new Approvals(http),
    grants: new Grants(http),
    files: new Files(http),
    agents: new Agents(http),
    environments: new Environments(http),
    keys: new Keys(http),
    suites: new Suites(http),
    webhooks: new Webhooks(http),
    trust: new Trust(http),
    whoami: () => http.json("GET", "/api/whoami"),
    projects: async () => (await http.json<List<WireProject>>("GET", "/api/projects")).data,
    models: async () => (await http.json<List<WireModel>>("GET", "/api/models")).data,
    credentials: async () => (await http.json<List<WireCredential>>("GET", "/api/credentials")).data,
    checkPolicy: (input) => http.json("POST", "/api/policy/check", { body: input }),
    replayPolicy: (input) => http.json("POST", "/api/policy/replay", { body: input }),
    ledger: (query) => http.json("GET", "/api/ledger", { query }),
    budgets: () => http.json("GET", "/api/budgets"),
    verifyAudit: (query) => http.json("GET", "/api/audit/verify", { query }),
  };
}
