import type { List } from "../protocol/api/common.ts";
import type { WireAuditReport, WireCaller, WireCredential, WireModel, WireProject } from "../protocol/api/host.ts";
import type { LedgerSearch, WireBudgets, WireLedger } from "../protocol/api/ledger.ts";
import type { CheckInput, ReplayInput, WireExplanation, WireReplay } from "../protocol/api/policy.ts";
import { ApprovalsClient, GrantsClient } from "./approvals.ts";
import { FilesClient } from "./files.ts";
import { type ClientOptions, Http } from "./http.ts";
import { AgentsClient, EnvironmentsClient, KeysClient } from "./registry.ts";
import { SessionsClient } from "./sessions.ts";
import { SuitesClient } from "./suites.ts";
import { TrustClient } from "./trust.ts";
import { WebhooksClient } from "./webhooks.ts";

/**
 * The typed client for Capstan's own endpoints. For the Managed Agents API, use Anthropic's client with the same
 * address.
 */
export interface CapstanClient {
  readonly sessions: SessionsClient;
  readonly approvals: ApprovalsClient;
  readonly grants: GrantsClient;
  readonly files: FilesClient;
  readonly agents: AgentsClient;
  readonly environments: EnvironmentsClient;
  readonly keys: KeysClient;
  readonly suites: SuitesClient;
  readonly webhooks: WebhooksClient;
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
  readonly trust: TrustClient;
}

export function createClient(options: ClientOptions): CapstanClient {
  const http = new Http(options);
  return {
    sessions: new SessionsClient(http),
    approvals: new ApprovalsClient(http),
    grants: new GrantsClient(http),
    files: new FilesClient(http),
    agents: new AgentsClient(http),
    environments: new EnvironmentsClient(http),
    keys: new KeysClient(http),
    suites: new SuitesClient(http),
    webhooks: new WebhooksClient(http),
    trust: new TrustClient(http),
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
