import { OpenAPIHono } from "@hono/zod-openapi";
import type { Env } from "../http/context.ts";
import { HeavySlots } from "../heavy/slots.ts";
import { addAgents } from "./agents.ts";
import { addApprovals } from "./approvals/approvals.ts";
import type { ApiDeps } from "./deps.ts";
import { addDocument } from "./document/document.ts";
import type { Api, Heavy } from "./endpoint.ts";
import { addEnvironments } from "./environments.ts";
import { addExports } from "./sessions/exports.ts";
import { addFiles } from "./files/files.ts";
import { addGrants } from "./approvals/grants.ts";
import { addHost } from "./host.ts";
import { addKeys } from "./keys.ts";
import { addLedger } from "./ledger.ts";
import { addPolicy } from "./approvals/policy.ts";
import { addSessionEvents } from "./sessions/session-events.ts";
import { addSessions } from "./sessions/sessions.ts";
import { addSuites } from "./suites.ts";
import { addTrust } from "./trust.ts";
import { addWebhooks } from "./webhooks.ts";
import { addWorkspace } from "./files/workspace.ts";

/** `/api`, the parts of Capstan that the Managed Agents API does not have, and its document. */
export function apiRoutes(deps: ApiDeps): Api {
  const api: Api = new OpenAPIHono<Env>();
  // For git's comparisons and exports, which run in their own processes. Reading the store has its own threads.
  const heavy: Heavy = { slots: new HeavySlots(), limits: deps.heavyLimits };
  addSessions(api, deps);
  addSessionEvents(api, deps);
  addApprovals(api, deps);
  addGrants(api, deps);
  addWorkspace(api, deps);
  addFiles(api, deps, heavy);
  addExports(api, deps, heavy);
  addAgents(api, deps);
  addEnvironments(api, deps);
  addPolicy(api, deps);
  addLedger(api, deps);
  addHost(api, deps);
  addKeys(api, deps);
  addTrust(api, deps);
  addSuites(api, deps);
  addWebhooks(api, deps);
  addDocument(api);
  return api;
}
