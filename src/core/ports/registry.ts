import type { AgentDefinition } from "../agent/agent-definition.ts";
import type { EnvironmentDefinition } from "../environment/environment.ts";

/**
 * What a server keeps besides its sessions: agents with their versions, environments, uploaded files, keys and
 * webhooks. Each belongs to one project, which every query names: records of other projects are invisible. One contract
 * suite (test/contract/registry.ts) specifies the ports.
 */
export interface Registry {
  readonly agents: AgentStore;
  readonly environments: EnvironmentStore;
  readonly files: FileStore;
  readonly keys: KeyStore;
  readonly webhooks: WebhookStore;
}

/** Where a page of a list starts and how long it is; lists are newest first unless they say otherwise. */
export interface PageQuery {
  readonly limit: number;
  /** Only records after the one with this id, in the list's order. */
  readonly after?: string;
  /** Default false. */
  readonly includeArchived?: boolean;
  /** Milliseconds since the epoch, both inclusive. */
  readonly createdFrom?: number;
  readonly createdUntil?: number;
}

export type Metadata = Readonly<Record<string, string>>;

/** One version of an agent. Versions count from 1 and never change. */
export interface AgentRecord {
  readonly id: string;
  readonly version: number;
  readonly project: string;
  /** The display name; `definition.name` is derived from it. */
  readonly name: string;
  readonly description: string | null;
  readonly metadata: Metadata;
  readonly definition: AgentDefinition;
  /** Milliseconds since the epoch: when the agent was created, … */
  readonly createdAt: number;
  /** … when this version was, … */
  readonly updatedAt: number;
  /** … and when the agent, with all its versions, was archived. */
  readonly archivedAt: number | null;
}

export interface AgentStore {
  /** Saves version 1. */
  create(agent: AgentRecord): Promise<void>;
  /** The newest version, or the given one. */
  get(project: string, id: string, version?: number): Promise<AgentRecord | undefined>;
  /** The newest version of each. */
  list(project: string, query: PageQuery): Promise<readonly AgentRecord[]>;
  /** Newest first; `before`: only versions below it. */
  versions(
    project: string,
    id: string,
    query: { readonly limit: number; readonly before?: number },
  ): Promise<readonly AgentRecord[]>;
  /** Saves `agent` as its newest version. Rejects with `store_conflict` unless the newest is `agent.version - 1`. */
  update(agent: AgentRecord): Promise<void>;
  /** Keeps the first time. Undefined if the agent does not exist. */
  archive(project: string, id: string, at: number): Promise<AgentRecord | undefined>;
}

export interface EnvironmentRecord {
  readonly id: string;
  readonly project: string;
  readonly name: string;
  readonly description: string | null;
  readonly metadata: Metadata;
  readonly definition: EnvironmentDefinition;
  /** The directory of the host that workspaces are created from; null for sessions that start with an empty one. */
  readonly directory: string | null;
  /** The API's own configuration, returned unchanged; opaque here. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly archivedAt: number | null;
}

export interface EnvironmentStore {
  create(environment: EnvironmentRecord): Promise<void>;
  get(project: string, id: string): Promise<EnvironmentRecord | undefined>;
  list(project: string, query: PageQuery): Promise<readonly EnvironmentRecord[]>;
  /** Replaces the one with its id. Resolves to false if it does not exist. */
  update(environment: EnvironmentRecord): Promise<boolean>;
  /** Resolves to false if it does not exist. */
  delete(project: string, id: string): Promise<boolean>;
}

/** Metadata of an uploaded file; `FileContents` has its content. */
export interface FileRecord {
  readonly id: string;
  readonly project: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** The file no longer exists after this time. */
  readonly expiresAt: number | null;
}

export interface FileStore {
  create(file: FileRecord): Promise<void>;
  get(project: string, id: string, now: number): Promise<FileRecord | undefined>;
  /** `ids`: only these. */
  list(
    project: string,
    query: PageQuery & { readonly now: number; readonly ids?: readonly string[] },
  ): Promise<readonly FileRecord[]>;
  /** Resolves to false if it does not exist. */
  delete(project: string, id: string): Promise<boolean>;
  /** Expired files of all projects, so that their content can be removed. */
  listExpired(now: number): Promise<readonly FileRecord[]>;
}

/** The content of uploaded files. */
export interface FileContents {
  /** All or nothing. Rejects with `too_large` if there are more than `maxBytes`. */
  write(id: string, bytes: ReadableStream<Uint8Array>, maxBytes: number): Promise<{ readonly sizeBytes: number }>;
  read(id: string): Promise<ReadableStream<Uint8Array>>;
  /** A path on the host where the content can be read as a file. */
  path(id: string): string;
  /** Does nothing if it does not exist. */
  remove(id: string): Promise<void>;
}

export const ROLES = ["viewer", "operator", "admin"] as const;
/** What a key may do; each role includes the ones before it. Operators run sessions and answer approvals. */
export type Role = (typeof ROLES)[number];

export interface KeyRecord {
  readonly id: string;
  readonly project: string;
  readonly name: string;
  readonly role: Role;
  /** SHA-256 of the secret, in hex. The secret itself, 256 random bits, is shown once and never saved. */
  readonly hash: string;
  /** The first characters of the secret, so that people can tell keys apart. */
  readonly prefix: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

export interface KeyStore {
  create(key: KeyRecord): Promise<void>;
  /** Includes revoked keys: the caller reports which one it is. */
  byHash(hash: string): Promise<KeyRecord | undefined>;
  /** Of one project, or of all. Oldest first. */
  list(project?: string): Promise<readonly KeyRecord[]>;
  /** Resolves to false if it does not exist or was already revoked. */
  revoke(id: string, at: number): Promise<boolean>;
  recordUse(id: string, at: number): Promise<void>;
}

/** An address that receives events of a project's sessions. */
export interface WebhookRecord {
  readonly id: string;
  readonly project: string;
  readonly url: string;
  /** `whsec_` and the signing key in base64. */
  readonly secret: string;
  /** The event types it receives, such as `session.status_idled`; empty for all. */
  readonly events: readonly string[];
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Set when it is disabled, by a person or after too many failures. */
  readonly disabledAt: number | null;
}

export type DeliveryStatus = "waiting" | "delivered" | "failed";

/** One event for one address. The body is saved before the first attempt, so that a crash loses none. */
export interface DeliveryRecord {
  readonly id: string;
  readonly webhookId: string;
  readonly project: string;
  readonly type: string;
  readonly body: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Time of the next attempt, while it is pending. */
  readonly nextAt: number;
  /** Of the last attempt: the response status, or what went wrong. */
  readonly lastStatus: number | null;
  readonly lastError: string | null;
}

export interface DueQuery {
  readonly limit: number;
  /** The maximum per webhook. */
  readonly limitEach: number;
  /** Ids of webhooks to exclude. */
  readonly except: readonly string[];
  readonly leaseMs: number;
}

/** The store itself enqueues deliveries, in the same transaction as the events they report. */
export interface WebhookStore {
  create(webhook: WebhookRecord): Promise<void>;
  get(project: string, id: string): Promise<WebhookRecord | undefined>;
  /** Oldest first. */
  list(project: string): Promise<readonly WebhookRecord[]>;
  /** Resolves to false if it does not exist. Also deletes its deliveries. */
  delete(project: string, id: string): Promise<boolean>;
  /** `at`: null to enable it again. Resolves to false if it does not exist. */
  disable(project: string, id: string, at: number | null): Promise<boolean>;

  /** Does nothing for a known id: each event is delivered once. */
  enqueue(deliveries: readonly DeliveryRecord[]): Promise<void>;
  /** Pending deliveries that are due, oldest first; they belong to this caller until `now + leaseMs`. */
  due(now: number, query: DueQuery): Promise<readonly DeliveryRecord[]>;
  /** Saves the result of an attempt. */
  recordAttempt(
    id: string,
    outcome: Pick<DeliveryRecord, "status" | "attempts" | "nextAt" | "lastStatus" | "lastError">,
  ): Promise<void>;
  /** Removes deliveries created before then that were delivered or given up. */
  prune(before: number): Promise<void>;
  /** Newest first. */
  deliveries(project: string, webhookId: string, limit: number): Promise<readonly DeliveryRecord[]>;
}
