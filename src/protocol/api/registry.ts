import { z } from "zod";
import { agentDefinition } from "../../core/agent/agent-definition.ts";
import { environmentDefinition } from "../../core/environment/environment.ts";
import { type AgentRecord, type EnvironmentRecord, type KeyRecord, ROLES } from "../../core/ports/registry.ts";
import { isoTime, isoTimeOrNull, metadata, queryFlag, queryNumber, timestamp } from "./common.ts";

const name = z.string().min(1).max(256);
const description = z.string().max(2_048);

export const pageQuery = z.strictObject({
  limit: queryNumber({ min: 1, max: 100 }).default(20),
  after: z.string().optional().describe("Only records after the one with this id: the last one of a page."),
  include_archived: queryFlag.optional().describe("Default: false."),
});

export const agent = z.object({
  id: z.string(),
  version: z.number(),
  name: z.string(),
  description: z.string().nullable(),
  metadata,
  definition: agentDefinition.describe("Secret values of variables are not shown."),
  created_at: timestamp,
  updated_at: timestamp,
  archived_at: timestamp.nullable(),
});
export type WireAgent = z.infer<typeof agent>;

export const agentInput = z.strictObject({
  definition: agentDefinition,
  name: name.optional().describe("The display name. Default: the definition's name."),
  description: description.nullable().optional(),
  metadata: metadata.optional(),
});
export type AgentRequest = z.input<typeof agentInput>;

export const agentUpdate = agentInput.extend({
  version: z
    .number()
    .int()
    .positive()
    .optional()
    .describe("The version that was changed; if there is a newer one, the update is rejected."),
});
export type AgentUpdate = z.input<typeof agentUpdate>;

export const agentVersion = z.strictObject({ version: queryNumber({ min: 1, max: 2_147_483_647 }).optional() });

export const versionQuery = z.strictObject({
  limit: queryNumber({ min: 1, max: 100 }).default(20),
  before: queryNumber({ min: 1, max: 2_147_483_647 }).optional().describe("Only versions below this one."),
});

export function agentToWire(given: AgentRecord): WireAgent {
  const { id, version, name, description, metadata, definition, createdAt, updatedAt, archivedAt } = given;
  return {
    id,
    version,
    name,
    description,
    metadata,
    definition,
    created_at: isoTime(createdAt),
    updated_at: isoTime(updatedAt),
    archived_at: isoTimeOrNull(archivedAt),
  };
}

export const environment = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string().nullable(),
  metadata,
  definition: environmentDefinition.describe("Secret values of variables are not shown."),
  directory: z
    .string()
    .nullable()
    .describe("The directory on the server's machine that workspaces are created from; null for an empty workspace."),
  created_at: timestamp,
  updated_at: timestamp,
  archived_at: timestamp.nullable(),
});
export type WireEnvironment = z.infer<typeof environment>;

export const environmentInput = z.strictObject({
  name,
  description: description.nullable().optional(),
  metadata: metadata.optional(),
  definition: environmentDefinition,
  directory: z.string().nullable().optional().describe("An existing absolute path. Default: none."),
});
export type EnvironmentRequest = z.input<typeof environmentInput>;

export function environmentToWire(given: EnvironmentRecord): WireEnvironment {
  const { id, name, description, metadata, definition, directory, createdAt, updatedAt, archivedAt } = given;
  return {
    id,
    name,
    description,
    metadata,
    definition,
    directory,
    created_at: isoTime(createdAt),
    updated_at: isoTime(updatedAt),
    archived_at: isoTimeOrNull(archivedAt),
  };
}

export const key = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(ROLES),
  prefix: z.string().describe("The first characters of the key."),
  created_at: timestamp,
  last_used_at: timestamp.nullable(),
  revoked_at: timestamp.nullable(),
});
export type WireKey = z.infer<typeof key>;

export const newKey = key.extend({ key: z.string().describe("The key itself: shown only here and not saved.") });
export type WireNewKey = z.infer<typeof newKey>;

export const keyInput = z.strictObject({ name, role: z.enum(ROLES) });
export type KeyRequest = z.input<typeof keyInput>;

export function keyToWire({ id, name, role, prefix, createdAt, lastUsedAt, revokedAt }: KeyRecord): WireKey {
  return {
    id,
    name,
    role,
    prefix,
    created_at: isoTime(createdAt),
    last_used_at: isoTimeOrNull(lastUsedAt),
    revoked_at: isoTimeOrNull(revokedAt),
  };
}
