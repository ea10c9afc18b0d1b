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
function nameSchema<Schema extends z.ZodType>(schema: Schema, name: string): Schema {
  return schema.clone().openapi(name);
}

/** The protocol's schemas under their names in the document. They accept the same input. */

export const errorComponent = nameSchema(plainError, "Error");
const agentDefinition = nameSchema(plainAgent, "AgentDefinition");
const environmentDefinition = nameSchema(plainEnvironment, "EnvironmentDefinition");
export const approvalComponent = nameSchema(plainApproval, "Approval");
export const grantComponent = nameSchema(plainGrant, "Grant");
export const ledgerLineComponent = nameSchema(plainLine, "LedgerLine");
export const budgetLineComponent = nameSchema(plainBudgetLine, "BudgetLine");
export const explanationComponent = nameSchema(policy.explanation, "Explanation");
export const replayLineComponent = nameSchema(policy.replayLine, "ReplayLine");
export const checkInputComponent = policy.checkInput.extend({ agent_definition: agentDefinition.optional() });
export const keyComponent = nameSchema(registry.key, "Key");
export const webhookComponent = nameSchema(webhooks.webhook, "Webhook");
export const deliveryComponent = nameSchema(webhooks.delivery, "Delivery");
export const suiteRunSummaryComponent = nameSchema(suites.suiteRunSummary, "SuiteRunSummary");
export const suiteComponent = nameSchema(suites.suite.extend({ last_run: suiteRunSummaryComponent }), "Suite");
export const suiteRunComponent = nameSchema(suites.wholeSuiteRun, "SuiteRun");

export const agentComponent = nameSchema(registry.agent.extend({ definition: agentDefinition }), "Agent");
export const agentCheckComponent = nameSchema(plainCheck, "AgentCheck");
export const agentInputComponent = registry.agentInput.extend({ definition: agentDefinition });
export const agentUpdateComponent = registry.agentUpdate.extend({ definition: agentDefinition });
export const environmentComponent = nameSchema(
  registry.environment.extend({ definition: environmentDefinition }),
  "Environment",
);
export const environmentInputComponent = registry.environmentInput.extend({ definition: environmentDefinition });

const definitions = { agent: agentDefinition, environment: environmentDefinition };
export const sessionComponent = nameSchema(plainSession.extend(definitions), "Session");
export const stateComponent = nameSchema(sessionState, "SessionState");
export const sessionWithStateComponent = nameSchema(
  plainSession.extend({ ...definitions, head: requests.head, state: stateComponent }),
  "SessionWithState",
);
export const sessionInputComponent = requests.sessionInput.extend({
  agent_definition: agentDefinition.optional(),
  environment: environmentDefinition.optional(),
});

export const loggedEventComponent = nameSchema(
  z.intersection(nameSchema(sessionEvent, "SessionEvent"), requests.logPosition),
  "LoggedEvent",
);
export const eventPageComponent = requests.eventPage.extend({ data: z.array(loggedEventComponent) });

export const checkpointComponent = nameSchema(files.checkpoint, "Checkpoint");
const fileChange = nameSchema(files.fileChange, "FileChange");
export const diffComponent = files.diff.extend({
  files: z.array(fileChange),
  steps: z.array(files.changeStep.extend({ files: z.array(fileChange) })),
});
export const rewindComponent = files.rewind.extend({ checkpoint: checkpointComponent, files: z.array(fileChange) });
