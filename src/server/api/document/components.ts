import { extendZodWithOpenApi } from "@hono/zod-openapi";
import { z } from "zod";
import { agentDefinition as plainAgent } from "../../../core/agent/agent-definition.ts";
import { environmentDefinition as plainEnvironment } from "../../../core/environment/environment.ts";
import { sessionEvent } from "../../../core/events/events.ts";
import { agentCheck as plainCheck } from "../../../protocol/api/agent-check.ts";
import { approval as plainApproval } from "../../../protocol/api/approvals.ts";
import { errorEnvelope as plainError } from "../../../protocol/api/common.ts";
import * as files from "../../../protocol/api/files.ts";
import { grant as plainGrant } from "../../../protocol/api/grants.ts";
import { budgetLine as plainBudgetLine, ledgerLine as plainLine } from "../../../protocol/api/ledger.ts";
import * as policy from "../../../protocol/api/policy.ts";
import * as registry from "../../../protocol/api/registry.ts";
import * as requests from "../../../protocol/api/session-requests.ts";
import { sessionState } from "../../../protocol/api/session-state.ts";
import { session as plainSession } from "../../../protocol/api/sessions.ts";
import * as suites from "../../../protocol/api/suites.ts";
import * as webhooks from "../../../protocol/api/webhooks.ts";

// The published package has two copies of zod: ours and the one that generates the document. The generator needs only
// this class. Passing all of zod would add all of it to the package and to the start of every command.
extendZodWithOpenApi({ ZodType: z.ZodType } as typeof z);

/** Copies the schema: schemas created before zod was extended cannot have names. */
function named<Schema extends z.ZodType>(schema: Schema, name: string): Schema {
  return schema.clone().openapi(name);
}

/** The protocol's schemas under their names in the document. They accept the same input. */

export const errorEnvelope = named(plainError, "Error");
const agentDefinition = named(plainAgent, "AgentDefinition");
const environmentDefinition = named(plainEnvironment, "EnvironmentDefinition");
export const approval = named(plainApproval, "Approval");
export const grant = named(plainGrant, "Grant");
export const ledgerLine = named(plainLine, "LedgerLine");
export const budgetLine = named(plainBudgetLine, "BudgetLine");
export const explanation = named(policy.explanation, "Explanation");
export const replayLine = named(policy.replayLine, "ReplayLine");
export const checkInput = policy.checkInput.extend({ agent_definition: agentDefinition.optional() });
export const key = named(registry.key, "Key");
export const webhook = named(webhooks.webhook, "Webhook");
export const delivery = named(webhooks.delivery, "Delivery");
export const suiteRunSummary = named(suites.suiteRunSummary, "SuiteRunSummary");
export const suite = named(suites.suite.extend({ last_run: suiteRunSummary }), "Suite");
export const wholeSuiteRun = named(suites.wholeSuiteRun, "SuiteRun");

export const agent = named(registry.agent.extend({ definition: agentDefinition }), "Agent");
export const agentCheck = named(plainCheck, "AgentCheck");
export const agentInput = registry.agentInput.extend({ definition: agentDefinition });
export const agentUpdate = registry.agentUpdate.extend({ definition: agentDefinition });
export const environment = named(registry.environment.extend({ definition: environmentDefinition }), "Environment");
export const environmentInput = registry.environmentInput.extend({ definition: environmentDefinition });

const definitions = { agent: agentDefinition, environment: environmentDefinition };
export const session = named(plainSession.extend(definitions), "Session");
export const state = named(sessionState, "SessionState");
export const sessionWithState = named(
  plainSession.extend({ ...definitions, head: requests.head, state }),
  "SessionWithState",
);
export const sessionInput = requests.sessionInput.extend({
  agent_definition: agentDefinition.optional(),
  environment: environmentDefinition.optional(),
});

export const loggedEvent = named(z.intersection(named(sessionEvent, "SessionEvent"), requests.place), "LoggedEvent");
export const eventPage = requests.eventPage.extend({ data: z.array(loggedEvent) });

export const checkpoint = named(files.checkpoint, "Checkpoint");
const fileChange = named(files.fileChange, "FileChange");
export const diff = files.diff.extend({
  files: z.array(fileChange),
  steps: z.array(files.changeStep.extend({ files: z.array(fileChange) })),
});
export const rewind = files.rewind.extend({ checkpoint, files: z.array(fileChange) });
