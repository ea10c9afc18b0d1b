/** The typed client for Capstan's own endpoints, `capstan/client`. Runs in browsers and in Node. */

export { type CapstanClient, createClient } from "./client.ts";
export { CapstanApiError } from "./error.ts";
export type { ClientOptions } from "./http.ts";
export type { StreamOptions } from "./stream.ts";
export type { LoggedEvent, Preview, SessionEvent } from "../core/events/events.ts";
export type { AgentInput } from "../core/agent/agent-definition.ts";
export type { EnvironmentInput } from "../core/environment/environment.ts";
export type { WireAgentCheck, WireServerCheck } from "../protocol/api/agent-check.ts";
export type { WireAnswer, WireApproval } from "../protocol/api/approvals.ts";
export type { WireApplied, WireCheckpoint, WireDiff, WireFileList, WireRewind } from "../protocol/api/files.ts";
export type { WireGrant } from "../protocol/api/grants.ts";
export type { WireAuditReport, WireCaller, WireCredential, WireModel, WireProject } from "../protocol/api/host.ts";
export type { LedgerSearch, WireBudgetLine, WireBudgets, WireLedger, WireLedgerLine } from "../protocol/api/ledger.ts";
export type { WireExplanation, WireReplay } from "../protocol/api/policy.ts";
export type { WireAgent, WireEnvironment, WireKey, WireNewKey } from "../protocol/api/registry.ts";
export type {
  Accepted,
  ClippedEvent,
  MessageInput,
  SessionInput,
  SessionPatch,
} from "../protocol/api/session-requests.ts";
export type { WireSessionWithState, WireState } from "../protocol/api/session-state.ts";
export type { WireSession } from "../protocol/api/sessions.ts";
export type { WireSuite, WireSuiteRun, WireSuiteRunSummary } from "../protocol/api/suites.ts";
export type { TrustInput, WireTrust } from "../protocol/api/trust.ts";
export type { WebhookRequest, WireDelivery, WireNewWebhook, WireWebhook } from "../protocol/api/webhooks.ts";
