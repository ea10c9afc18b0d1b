import type { AgentDefinition } from "../agent/agent-definition.ts";
import type { EnvironmentDefinition } from "../environment/environment.ts";

/**
 * What a server keeps beside its sessions: agents with their versions, environments, uploaded files, keys and webhooks.
 * Each belongs to one project, and a query always names it: what is another project's is not there.
 * One contract suite (test/contract/registry.ts) says what the ports mean.
 */
export interface Registry {
  readonly agents: AgentStore;
  readonly environments: EnvironmentStore;
  readonly files: FileStore;
  readonly keys: KeyStore;
  readonly webhooks: WebhookStore;
}

/** Where a page of a list begins and how long it is; lists are newest first unless they say otherwise. */
export interface PageQuery {
  readonly limit: number;
  /** Only what comes after the record with this id, in the list's order. */
  readonly after?: string;
  /** Default false. */
  readonly includeArchived?: boolean;
  /** Milliseconds since the epoch, both included. */
  readonly createdFrom?: number;
  readonly createdUntil?: number;
}

export type Metadata = Readonly<Record<string, string>>;

/** One version of an agent. Versions count from 1; none is ever changed. */
export interface AgentRecord {
  readonly id: string;
  readonly version: number;
  readonly project: string;
  /** As people write it; `definition.name` is made from it. */
  readonly name: string;
  readonly description: string | null;
  readonly metadata: Metadata;
  readonly definition: AgentDefinition;
  /** Milliseconds since the epoch: when the agent was made, … */
  readonly createdAt: number;
  /** … when this version was, … */
  readonly updatedAt: number;
  /** … and when the agent, with all its versions, was put away. */
  readonly archivedAt: number | null;
}

export interface AgentStore {
  /** Stores version 1. */
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
  /** Stores `agent` as its newest version. Rejects with `store_conflict` unless the newest is `agent.version - 1`. */
  update(agent: AgentRecord): Promise<void>;
  /** The first time counts. Undefined when there is no such agent. */
  archive(project: string, id: string, at: number): Promise<AgentRecord | undefined>;
}

export interface EnvironmentRecord {
  readonly id: string;
  readonly project: string;
  readonly name: string;
  readonly description: string | null;
  readonly metadata: Metadata;
  readonly definition: EnvironmentDefinition;
  /** The directory of the host that workspaces are made from; null for sessions that start with an empty one. */
  readonly directory: string | null;
  /** The API's own word for it, to be given back as it was said; opaque here. */
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
  /** Puts it in place of the one with its id. Resolves to false when there is none. */
  update(environment: EnvironmentRecord): Promise<boolean>;
  /** Resolves to false when there is none. */
  delete(project: string, id: string): Promise<boolean>;
}

/** What is known of an uploaded file; its content is kept by `FileContents`. */
export interface FileRecord {
  readonly id: string;
  readonly project: string;
  readonly filename: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** From then on it is not there any more. */
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
  /** Resolves to false when there is none. */
  delete(project: string, id: string): Promise<boolean>;
  /** Of all projects: those that have expired, so that their content can be removed. */
  expired(now: number): Promise<readonly FileRecord[]>;
}

/** Where the bytes of uploaded files are. */
export interface FileContents {
  /** Whole or not at all. Rejects with `too_large` when there are more than `maxBytes`. */
  write(id: string, bytes: ReadableStream<Uint8Array>, maxBytes: number): Promise<{ readonly sizeBytes: number }>;
  read(id: string): Promise<ReadableStream<Uint8Array>>;
  /** A path of the host where the content can be read as a file. */
  path(id: string): string;
  /** Nothing happens when there is none. */
  remove(id: string): Promise<void>;
}

export const ROLES = ["viewer", "operator", "admin"] as const;
/** What a key may do; each role may do what those before it may. Operators run sessions and answer approvals. */
export type Role = (typeof ROLES)[number];

export interface KeyRecord {
  readonly id: string;
  readonly project: string;
  readonly name: string;
  readonly role: Role;
  /** SHA-256 of the secret, in hex. The secret itself, 256 random bits, is shown once and kept nowhere. */
  readonly hash: string;
  /** The first characters of the secret, so that a person can tell keys apart. */
  readonly prefix: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly revokedAt: number | null;
}

export interface KeyStore {
  create(key: KeyRecord): Promise<void>;
  /** Revoked ones too: whoever asks says which it is. */
  byHash(hash: string): Promise<KeyRecord | undefined>;
  /** Of one project, or of all. Oldest first. */
  list(project?: string): Promise<readonly KeyRecord[]>;
  /** Resolves to false when there is none, or when it was revoked before. */
  revoke(id: string, at: number): Promise<boolean>;
  used(id: string, at: number): Promise<void>;
}

/** An address that is told what happens to a project's sessions. */
export interface WebhookRecord {
  readonly id: string;
  readonly project: string;
  readonly url: string;
  /** `whsec_` and the signing key in base64. */
  readonly secret: string;
  /** The types of events it is told, such as `session.status_idled`; empty for all. */
  readonly events: readonly string[];
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Set when it is told nothing more, by a person or after too many failures. */
  readonly disabledAt: number | null;
}

export type DeliveryStatus = "waiting" | "delivered" | "failed";

/** One event for one address. The body is stored before the first attempt, so that a crash loses none. */
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
  /** Of the next attempt, while it waits. */
  readonly nextAt: number;
  /** Of the last attempt: the answer's status, or what went wrong. */
  readonly lastStatus: number | null;
  readonly lastError: string | null;
}

export interface DueQuery {
  readonly limit: number;
  /** At most so many of one webhook. */
  readonly limitEach: number;
  /** None of these webhooks, by their ids. */
  readonly except: readonly string[];
  readonly leaseMs: number;
}

/** What happens to sessions is enqueued by the store itself, together with the events that tell of it. */
export interface WebhookStore {
  create(webhook: WebhookRecord): Promise<void>;
  get(project: string, id: string): Promise<WebhookRecord | undefined>;
  /** Oldest first. */
  list(project: string): Promise<readonly WebhookRecord[]>;
  /** Resolves to false when there is none. Its deliveries go with it. */
  delete(project: string, id: string): Promise<boolean>;
  /** `at`: null to tell it again. Resolves to false when there is none. */
  disable(project: string, id: string, at: number | null): Promise<boolean>;

  /** Nothing happens when there is one with this id: what happened once is told once. */
  enqueue(deliveries: readonly DeliveryRecord[]): Promise<void>;
  /** Those that wait and whose time has come, oldest first, and are then this caller's until `now + leaseMs`. */
  due(now: number, query: DueQuery): Promise<readonly DeliveryRecord[]>;
  /** What became of an attempt. */
  attempted(
    id: string,
    outcome: Pick<DeliveryRecord, "status" | "attempts" | "nextAt" | "lastStatus" | "lastError">,
  ): Promise<void>;
  /** Forgets those that were delivered or given up, and made before then. */
  prune(before: number): Promise<void>;
  /** Newest first. */
  deliveries(project: string, webhookId: string, limit: number): Promise<readonly DeliveryRecord[]>;
}
