import { z } from "zod";
import { agentDefinition } from "../../core/agent/agent-definition.ts";
import { authSettings, projectAuthSettings } from "../../core/auth/auth-schema.ts";
import { budgetSettings } from "../../core/money/budget-schema.ts";
import { priceSettings } from "../../core/money/pricing.ts";
import { redactionSettings } from "../../core/redaction/redaction-schema.ts";
import { serverSettings } from "../../core/environment/server-schema.ts";
import { layerEnvironment } from "./environment.ts";
import { layerBudget, layerPermissions } from "./layer-schemas.ts";

/** A Node timer with a longer delay fires at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** A relative path would mean another directory each time. */
const mountRoots = z.array(z.string().regex(/^(?:\/|~(?:\/|$))/, "an absolute path, or one from ~"));

/** A settings file as written. Every field is optional, and test/config/consumers.test.ts shows what it is for. */
export const settingsFile = z.strictObject({
  /** For agents that name none. */
  engine: agentDefinition.shape.engine,
  model: agentDefinition.shape.model.optional(),
  on_crash: z.enum(["continue", "stop"]).optional(),
  retries: z.int().min(0).optional(),
  upstream_idle_ms: z.int().positive().max(MAX_TIMER_MS).optional(),
  credential_wait_ms: z.int().min(0).max(MAX_TIMER_MS).optional(),
  hibernate_after_ms: z.int().min(0).max(MAX_TIMER_MS).optional(),
  permissions: layerPermissions.optional(),
  budget: layerBudget.optional(),
  budgets: budgetSettings.optional(),
  prices: priceSettings.optional(),
  redact: redactionSettings.optional(),
  /** Address and command only in the user's own settings. */
  auth: authSettings.optional(),
  environment: layerEnvironment.optional(),
  /** Only in the user's own settings: files there may be copied to where an agent sees them. */
  mount_roots: mountRoots.optional(),
  /** Only in the user's own settings: it concerns the whole machine. */
  server: serverSettings.optional(),
  /** Only in the user's own settings: outside the sandbox, a hook that runs project code runs what the agent wrote. */
  hooks_outside_sandbox: z.boolean().optional(),
  /** Only in the user's own settings, for the same reason. */
  graders_outside_sandbox: z.boolean().optional(),
  /** Only in the user's own settings: it decides what projects may override. */
  projects_may_loosen: z.boolean().optional(),
});

/** The settings of a project, which others may have written. */
export const projectFile = settingsFile.extend({
  auth: projectAuthSettings.optional(),
  mount_roots: settingsFile.shape.mount_roots.refine(
    (given) => given === undefined,
    "only allowed in the user's own settings file; a project must not choose which of your directories agents see",
  ),
  server: settingsFile.shape.server.refine(
    (given) => given === undefined,
    "only allowed in the user's own settings file; it concerns the whole machine, not one project",
  ),
  hooks_outside_sandbox: settingsFile.shape.hooks_outside_sandbox.refine(
    (given) => given === undefined,
    "only allowed in the user's own settings file; a project must not decide what runs outside the sandbox",
  ),
  graders_outside_sandbox: settingsFile.shape.graders_outside_sandbox.refine(
    (given) => given === undefined,
    "only allowed in the user's own settings file; a project must not decide what runs outside the sandbox",
  ),
  projects_may_loosen: settingsFile.shape.projects_may_loosen.refine(
    (given) => given === undefined,
    "only allowed in the user's own settings file; a project must not decide what it may loosen",
  ),
});

export type SettingsFile = z.infer<typeof settingsFile>;
