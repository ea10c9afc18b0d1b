import { z } from "zod";
import { agentDefinition } from "../../core/agent/agent-definition.ts";

/** Parts of an agent that settings can also set. */

const { permissions, budget } = agentDefinition.shape;
const rules = permissions.unwrap().shape;

/** Permissions in one layer; omitted fields are not decided there. */
export const layerPermissions = z.strictObject({
  mode: rules.mode.unwrap().optional(),
  allow: rules.allow.unwrap().optional(),
  ask: rules.ask.unwrap().optional(),
  deny: rules.deny.unwrap().optional(),
  approvals_expire_ms: rules.approvals_expire_ms,
});
export const layerBudget = budget.unwrap();
