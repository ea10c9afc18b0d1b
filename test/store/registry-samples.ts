import { parseEnvironment } from "../../src/core/environment/environment.ts";
import type {
  AgentRecord,
  DeliveryRecord,
  EnvironmentRecord,
  FileRecord,
  KeyRecord,
  WebhookRecord,
} from "../../src/core/ports/registry.ts";
import { NOON, sampleAgent } from "./samples.ts";

/** Small made-up records of what a server keeps. They belong to this project: */
export const PROJECT = "/srv/a";
export const OTHER_PROJECT = "/srv/b";

export function agentRecord(id: string, changes: Partial<AgentRecord> = {}): AgentRecord {
  return {
    id,
    version: 1,
    project: PROJECT,
    name: "Prüfer ✓",
    description: null,
    metadata: {},
    definition: sampleAgent,
    createdAt: NOON,
    updatedAt: NOON,
    archivedAt: null,
    ...changes,
  };
}

export function environmentRecord(id: string, changes: Partial<EnvironmentRecord> = {}): EnvironmentRecord {
  return {
    id,
    project: PROJECT,
    name: "Werkstatt",
    description: null,
    metadata: {},
    definition: parseEnvironment({}),
    directory: null,
    config: {},
    createdAt: NOON,
    updatedAt: NOON,
    archivedAt: null,
    ...changes,
  };
}

export function fileRecord(id: string, changes: Partial<FileRecord> = {}): FileRecord {
  return {
    id,
    project: PROJECT,
    filename: "notes.md",
    mimeType: "text/markdown",
    sizeBytes: 12,
    createdAt: NOON,
    expiresAt: null,
    ...changes,
  };
}

export function keyRecord(id: string, changes: Partial<KeyRecord> = {}): KeyRecord {
  return {
    id,
    project: PROJECT,
    name: "laptop",
    role: "operator",
    hash: `hash of ${id}`,
    prefix: "cpst_abc",
    createdAt: NOON,
    lastUsedAt: null,
    revokedAt: null,
    ...changes,
  };
}

export function webhookRecord(id: string, changes: Partial<WebhookRecord> = {}): WebhookRecord {
  return {
    id,
    project: PROJECT,
    url: "https://example.com/told",
    secret: "whsec_c2VjcmV0",
    events: [],
    createdAt: NOON,
    disabledAt: null,
    ...changes,
  };
}

/** For the webhook `whk_1`, due at once. */
export function deliveryRecord(id: string, changes: Partial<DeliveryRecord> = {}): DeliveryRecord {
  return {
    id,
    webhookId: "whk_1",
    project: PROJECT,
    type: "session.status_idled",
    body: `{"id":"${id}"}`,
    status: "waiting",
    attempts: 0,
    createdAt: NOON,
    nextAt: NOON,
    lastStatus: null,
    lastError: null,
    ...changes,
  };
}
