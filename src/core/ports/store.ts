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
 * The port for everything that must outlive a process. One contract suite (test/contract/store.ts) says what it means.
 * Every method may reject with a `store_*` error of core/errors.ts.
 */
export interface Store extends AsyncDisposable {
  createSession(session: SessionRecord): Promise<void>;
  session(sessionId: string): Promise<SessionRecord | undefined>;
  /** Last active first, unless `order` is given. Deleted sessions are left out. */
  sessions(query?: SessionQuery): Promise<readonly SessionSummary[]>;
  /** How many there are of each status, of one project or of all. */
  countSessions(project?: string): Promise<Readonly<Record<SessionState["status"], number>>>;
  /**
   * Erases what was said and done, the whole outputs of tools, the engine's transcripts and the snapshot; hashes and a tombstone stay, so that a
   * missing session can be told from one that never was. Rejects with `lease_lost` when the fence is old.
   */
  deleteSession(sessionId: string, fence: number): Promise<void>;

  /** All or nothing. Rejects with `store_conflict` when the log is not at `after`, with `lease_lost` when the fence is old. */
  append(sessionId: string, batch: AppendBatch): Promise<readonly StoredEvent[]>;
  /** In order, from the event after `after`. */
  events(sessionId: string, range?: EventRange): Promise<readonly StoredEvent[]>;
  /** The last sequence number; 0 for an empty log. */
  head(sessionId: string): Promise<number>;
  /** Walks the hash chain of a session; tells the first place where it does not hold. */
  verify(sessionId: string): Promise<ChainCheck>;

  /** Writes a consistent copy of the whole store to a new file while others go on writing. */
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
  /** The root directory of the project it belongs to, or `default`. */
  readonly project: string;
  readonly agent: AgentDefinition;
  readonly environment: EnvironmentDefinition;
  /** Where the agent works: the root of its workspace. */
  readonly cwd: string;
  /** The directory of the host that the session was started in; `cwd` itself when it works in place. */
  readonly source: string;
  readonly title: string | null;
  /** Small facts that a program keeps with the session. */
  readonly metadata: Metadata;
  /** The stored agent it was made from; null for a definition that was given with the session. */
  readonly agentRef: { readonly id: string; readonly version: number } | null;
  /** The stored environment it was made from; null for one that was given with the session. */
  readonly environmentId: string | null;
  /** What was put into its workspace at its start or later, oldest first. */
  readonly resources: readonly SessionResource[];
  /** Milliseconds since the epoch: when it was put away. It can be read from then on, and nothing else. */
  readonly archivedAt: number | null;
  /** A program gave it hooks, tools or variables: only that program goes on with it, and nobody does so by themselves. */
  readonly ownProgram: boolean;
  /** Set on a fork: where its history comes from. */
  readonly forkedFrom: { readonly sessionId: string; readonly seq: number } | null;
}

/** What the record of a session says that was made from nothing in the registry, and that nothing was kept with. */
export const PLAIN_SESSION = {
  metadata: {},
  agentRef: null,
  environmentId: null,
  resources: [],
  archivedAt: null,
  ownProgram: false,
} as const satisfies Partial<SessionRecord>;

/** A file or a repository that stands in a session's workspace at `mountPath`, relative to its root. */
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

/** What may change in a session's record after its start. */
export type SessionChange = Partial<
  Pick<SessionRecord, "title" | "metadata" | "resources" | "archivedAt" | "ownProgram">
> & {
  /** `agent.engine` of the session's own copy of its agent, so that lists show what runs it. */
  readonly engine?: EngineName;
};

/** A session as lists show it; kept up to date by every append. */
export interface SessionSummary extends SessionRecord {
  readonly status: SessionState["status"];
  /** Milliseconds since the epoch: when the last event was stored. */
  readonly lastActivityAt: number;
  /** Milliseconds since the epoch: when a message was last sent to it; before that, when it was created. */
  readonly lastSpokenAt: number;
  readonly turns: number;
  /** List price of the requests that have one, whoever pays. */
  readonly usd: number;
  /** The parts of `usd` that nobody is billed for: covered by a subscription, or of the scripted model. Absent for none. */
  readonly includedUsd?: number;
  readonly rehearsalUsd?: number;
  /** Requests whose price is not known, and not in `usd`; absent for none. */
  readonly unpricedRequests?: number;
  /** The beginning of the first message, in one line; empty before there is one. */
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
  /** Found in the title, the first message, the working directory or the agent's name, whatever the case. */
  readonly search?: string;
  /** Only sessions without activity since then, in milliseconds since the epoch. */
  readonly inactiveSince?: number;
  /** Any of these. */
  readonly statuses?: readonly SessionState["status"][];
  /** Of a stored agent, and of one version of it. */
  readonly agentId?: string;
  readonly agentVersion?: number;
  /** Milliseconds since the epoch, both included. */
  readonly createdFrom?: number;
  readonly createdUntil?: number;
  /** Only sessions in which an approval waits for its answer at this time, in milliseconds since the epoch. */
  readonly waitingAt?: number;
  /** Default true: a list shows what there is. */
  readonly includeArchived?: boolean;
  /** By the time they were made, `asc` or `desc`; ids decide between equals. */
  readonly order?: "asc" | "desc";
  /** With `order`: only those after the session with this id. */
  readonly after?: string;
}

export interface AppendBatch {
  /** The sequence number the writer believes to be the last. */
  readonly after: number;
  readonly events: readonly SessionEvent[];
  /** The fencing token of the writer's lease; a newer lease makes it void. */
  readonly fence: number;
  /** Changes of the record that the events tell of; stored together with them. */
  readonly change?: SessionChange;
  /** It happened elsewhere, long ago: nobody is told of it. */
  readonly isPast?: boolean;
  /** Approval id → the input as it is, where the event holds a redacted one. Erased when the approval is settled. */
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

/** One line of the engine's own transcript; opaque but for its type and uuid. */
export interface TranscriptEntry {
  readonly type: string;
  readonly uuid?: string;
  readonly [field: string]: unknown;
}

/** The engine's transcripts: `""` is a session's main line, other paths are its subagents. Never exported, never served. */
export interface TranscriptStore {
  /** Idempotent by uuid: an entry that is already there is left as it is. */
  append(sessionId: string, path: string, entries: readonly TranscriptEntry[]): Promise<void>;
  load(sessionId: string, path: string): Promise<readonly TranscriptEntry[]>;
  /** Puts `entries` in place of all that is stored under the path. */
  replace(sessionId: string, path: string, entries: readonly TranscriptEntry[]): Promise<void>;
  paths(sessionId: string): Promise<readonly string[]>;
}

/** A lease says which host drives a session. A host that stops renewing loses it. */
export interface LeaseStore {
  /** Rejects with `session_busy`, naming the holder, while another owner's lease is alive. */
  acquire(sessionId: string, owner: LeaseOwner, ttlMs: number): Promise<Lease>;
  /** Rejects with `lease_lost` when another owner has taken it. */
  renew(lease: Lease, ttlMs: number): Promise<void>;
  /** Nothing happens when the lease was lost already. */
  release(lease: Lease): Promise<void>;
  /** The live holder. */
  holder(sessionId: string): Promise<LeaseOwner | undefined>;
  /**
   * Sessions that should be at work, and who drives each: those in a turn, and those whose approvals were answered or
   * have expired.
   */
  wanted(now: number): Promise<readonly WantedSession[]>;
  /** Ends the lease of a host that is known to be gone; nothing happens when another holds it. */
  evict(sessionId: string, hostId: string): Promise<void>;
}

/** A claim says that a session's turn works in a directory; claims on the same directory, or one in the other, exclude each other. */
export interface ClaimStore {
  /** Gives the session that has such a claim; undefined when the claim is now this session's. */
  claim(sessionId: string, path: string): Promise<string | undefined>;
  /** Nothing happens when there is none. */
  release(sessionId: string): Promise<void>;
}

export interface WantedSession {
  readonly sessionId: string;
  /** Undefined when nobody does. */
  readonly holder: LeaseOwner | undefined;
}

export interface LeaseOwner {
  readonly hostId: string;
  readonly pid: number;
  /** The machine, or rather the space in which the pid means something. */
  readonly hostname: string;
}

export interface Lease {
  readonly sessionId: string;
  readonly hostId: string;
  /** Grows with every new holder of the session. */
  readonly fence: number;
}
