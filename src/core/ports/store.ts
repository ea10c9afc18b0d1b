import type { AgentDefinition } from "../agent/agent-definition.ts";
import type { ApprovalStore } from "../session/approval.ts";
import type { EnvironmentDefinition } from "../environment/environment.ts";
import type { EngineName } from "../agent/engine-name.ts";
import type { SessionEvent, StoredEvent } from "../events/events.ts";
import type { LedgerStore } from "../money/ledger.ts";
import type { Metadata, Registry } from "./registry.ts";
import type { SessionState } from "../session/state.ts";
import type { SuiteRunStore } from "./suite-run-store.ts";
import type { ToolOutputs } from "../tool-output/tool-outputs.ts";

/**
 * The port for everything that must outlive a process. One contract suite (test/contract/store.ts) specifies it. Every
 * method may reject with a `store_*` error of core/errors.ts.
 */
export interface Store extends AsyncDisposable {
  createSession(session: SessionRecord): Promise<void>;
  session(sessionId: string): Promise<SessionRecord | undefined>;
  /** Last active first, unless `order` is given. Excludes deleted sessions. */
  sessions(query?: SessionQuery): Promise<readonly SessionSummary[]>;
  /** The number of sessions by status, of one project or of all. */
  countSessions(project?: string): Promise<Readonly<Record<SessionState["status"], number>>>;
  /**
   * Erases messages, events, tool outputs, the engine's transcripts and the snapshot; hashes and a tombstone stay, so
   * that a deleted session differs from one that never existed. Rejects with `lease_lost` if the fence is old.
   */
  deleteSession(sessionId: string, fence: number): Promise<void>;

  /**
   * All or nothing. Rejects with `store_conflict` if the log is not at `after`, with `lease_lost` if the fence is old.
   */
  append(sessionId: string, batch: AppendBatch): Promise<readonly StoredEvent[]>;
  /** Resolves when everything that this process has appended so far is on disk. */
  sync(): Promise<void>;
  /** In order, from the event after `after`. */
  events(sessionId: string, range?: EventRange): Promise<readonly StoredEvent[]>;
  /** The last sequence number; 0 for an empty log. */
  head(sessionId: string): Promise<number>;
  /** Verifies the hash chain of a session; reports the first position where it breaks. */
  verify(sessionId: string): Promise<ChainCheck>;

  /** Writes a consistent copy of the whole store to a new file while others continue to write. */
  backup(path: string): Promise<void>;

  saveSnapshot(sessionId: string, snapshot: Snapshot): Promise<void>;
  snapshot(sessionId: string): Promise<Snapshot | undefined>;

  readonly transcripts: TranscriptStore;
  readonly leases: LeaseStore;
  readonly claims: ClaimStore;
  readonly ledger: LedgerStore;
  readonly approvals: ApprovalStore;
  readonly registry: Registry;
  readonly suiteRuns: SuiteRunStore;
  readonly toolOutputs: ToolOutputs;
}

export interface SessionRecord {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** The root directory of its project, or `default`. */
  readonly project: string;
  readonly agent: AgentDefinition;
  readonly environment: EnvironmentDefinition;
  /** Where the agent works: the root of its workspace. */
  readonly cwd: string;
  /** The directory of the host that the session was started in; `cwd` itself if it works in place. */
  readonly source: string;
  readonly title: string | null;
  /** Small facts that a program keeps with the session. */
  readonly metadata: Metadata;
  /** The stored agent it was created from; null for a definition that was passed with the session. */
  readonly agentRef: { readonly id: string; readonly version: number } | null;
  /** The stored environment it was created from; null for one that was passed with the session. */
  readonly environmentId: string | null;
  /** Files and repositories put into its workspace at its start or later, oldest first. */
  readonly resources: readonly SessionResource[];
  /** Milliseconds since the epoch: when it was archived. After that it is read-only. */
  readonly archivedAt: number | null;
  /**
   * A program gave it hooks, tools or variables: only that program may continue it, and it never resumes automatically.
   */
  readonly ownProgram: boolean;
  /** Set on a fork: where its history comes from. */
  readonly forkedFrom: { readonly sessionId: string; readonly seq: number } | null;
}

/** The record of a session that was created without the registry and that nothing was kept with. */
export const PLAIN_SESSION = {
  metadata: {},
  agentRef: null,
  environmentId: null,
  resources: [],
  archivedAt: null,
  ownProgram: false,
} as const satisfies Partial<SessionRecord>;

/** A file or a repository in a session's workspace at `mountPath`, relative to its root. */
export type SessionResource = {
  readonly id: string;
  readonly mountPath: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
} & (
  | { readonly type: "file"; readonly fileId: string }
  | {
      readonly type: "repository";
      readonly url: string;
      readonly checkout:
        | { readonly type: "branch"; readonly name: string }
        | { readonly type: "commit"; readonly sha: string }
        | null;
    }
);

/** The fields of a session's record that may change after its start. */
export type SessionChange = Partial<
  Pick<SessionRecord, "title" | "metadata" | "resources" | "archivedAt" | "ownProgram">
> & {
  /** `agent.engine` of the session's own copy of its agent, so that lists show which engine runs it. */
  readonly engine?: EngineName;
};

/** A session in lists; updated by every append. */
export interface SessionSummary extends SessionRecord {
  readonly status: SessionState["status"];
  /** Milliseconds since the epoch: when the last event was saved. */
  readonly lastActivityAt: number;
  /** Milliseconds since the epoch: when it last got a message; before that, when it was created. */
  readonly lastSpokenAt: number;
  readonly turns: number;
  /** List price of the requests with a known price, whoever pays. */
  readonly usd: number;
  /** The parts of `usd` that are not billed: included in a subscription, or of the scripted model. Absent if none. */
  readonly includedUsd?: number;
  readonly rehearsalUsd?: number;
  /** Requests with an unknown price, not included in `usd`; absent if none. */
  readonly unpricedRequests?: number;
  /** The start of the first message, on one line; empty before there is one. */
  readonly firstMessage: string;
}

export interface SessionQuery {
  /** The one with this id. */
  readonly id?: string;
  readonly limit?: number;
  readonly project?: string;
  readonly status?: SessionState["status"];
  /** The agent's name. */
  readonly agent?: string;
  /** Matches the title, the first message, the working directory or the agent's name, ignoring case. */
  readonly search?: string;
  /** Only sessions without activity since then, in milliseconds since the epoch. */
  readonly inactiveSince?: number;
  /** Any of these. */
  readonly statuses?: readonly SessionState["status"][];
  /** Of a stored agent, and of one version of it. */
  readonly agentId?: string;
  readonly agentVersion?: number;
  /** Milliseconds since the epoch, both inclusive. */
  readonly createdFrom?: number;
  readonly createdUntil?: number;
  /** Only sessions with a pending approval at this time, in milliseconds since the epoch. */
  readonly waitingAt?: number;
  /** Default: true. */
  readonly includeArchived?: boolean;
  /** By creation time, `asc` or `desc`, then by id. */
  readonly order?: "asc" | "desc";
  /** With `order`: only those after the session with this id. */
  readonly after?: string;
}

export interface AppendBatch {
  /** The sequence number that the writer believes to be the last. */
  readonly after: number;
  readonly events: readonly SessionEvent[];
  /** The fencing token of the writer's lease; a newer lease invalidates it. */
  readonly fence: number;
  /** Changes of the record that the events describe; saved together with them. */
  readonly change?: SessionChange;
  /**
   * Resolve as soon as the data survives a crash of the process; `synced` resolves when it survives a failure of the
   * machine.
   */
  readonly isEarly?: boolean;
  /**
   * A directory that the session claims in the same transaction, unless another session has a claim. See
   * `claims.claim`.
   */
  readonly claim?: string;
  /** The events are from the past, such as an import: nobody is notified. */
  readonly isPast?: boolean;
  /** Approval id → the original input, where the event has a redacted one. Erased when the approval is settled. */
  readonly unredacted?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface EventRange {
  readonly after?: number;
  readonly upTo?: number;
  readonly limit?: number;
}

export interface Snapshot {
  readonly seq: number;
  readonly state: SessionState;
}

export type ChainCheck =
  /** `erased`: the session was deleted, and only its hashes could be checked. */
  | { readonly ok: true; readonly events: number; readonly erased?: true }
  | { readonly ok: false; readonly seq: number; readonly problem: string };

/** One line of the engine's own transcript; opaque except for its type and uuid. */
export interface TranscriptEntry {
  readonly type: string;
  readonly uuid?: string;
  readonly [field: string]: unknown;
}

/**
 * The engine's transcripts: `""` is a session's primary thread, other paths are its subagents. Never exported, never
 * served.
 */
export interface TranscriptStore {
  /** Idempotent by uuid: existing entries stay unchanged. */
  append(sessionId: string, path: string, entries: readonly TranscriptEntry[]): Promise<void>;
  load(sessionId: string, path: string): Promise<readonly TranscriptEntry[]>;
  /** Replaces everything saved under the path with `entries`. */
  replace(sessionId: string, path: string, entries: readonly TranscriptEntry[]): Promise<void>;
  paths(sessionId: string): Promise<readonly string[]>;
}

/** A lease says which host drives a session. A host that stops renewing loses it. */
export interface LeaseStore {
  /** Rejects with `session_busy`, naming the holder, while another owner's lease is alive. */
  acquire(sessionId: string, owner: LeaseOwner, ttlMs: number): Promise<Lease>;
  /** Rejects with `lease_lost` if another owner has taken it. */
  renew(lease: Lease, ttlMs: number): Promise<void>;
  /** Does nothing if the lease was already lost. */
  release(lease: Lease): Promise<void>;
  /** The live holder. */
  holder(sessionId: string): Promise<LeaseOwner | undefined>;
  /**
   * Sessions that should be working, and who drives each: those in a turn, and those whose approvals were answered or
   * have expired.
   */
  listWanted(now: number): Promise<readonly WantedSession[]>;
  /** Ends the lease of a host that is known to be dead; does nothing if another host holds it. */
  evict(sessionId: string, hostId: string): Promise<void>;
}

/**
 * A claim says that a session's turn works in a directory. Claims on the same or nested directories exclude each other.
 */
export interface ClaimStore {
  /** Returns the session that has a conflicting claim; undefined if this session has the claim now. */
  claim(sessionId: string, path: string): Promise<string | undefined>;
  /** Does nothing if there is none. */
  release(sessionId: string): Promise<void>;
}

export interface WantedSession {
  readonly sessionId: string;
  /** Undefined if nobody does. */
  readonly holder: LeaseOwner | undefined;
}

export interface LeaseOwner {
  readonly hostId: string;
  readonly pid: number;
  /** The machine, or more precisely the namespace in which the pid is valid. */
  readonly hostname: string;
}

export interface Lease {
  readonly sessionId: string;
  readonly hostId: string;
  /** Increases with every new holder of the session. */
  readonly fence: number;
}
