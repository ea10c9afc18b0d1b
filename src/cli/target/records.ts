import type { Approval, ApprovalAnswer, ApprovalQuery, Grant } from "../../core/session/approval.ts";
import type { EventType, LoggedEvent } from "../../core/events/events.ts";
import type { LedgerLine, LedgerQuery } from "../../core/money/ledger.ts";
import type { EventRange, SessionQuery, SessionRecord, SessionSummary } from "../../core/ports/store.ts";
import type { Replay, ReplayRequest } from "../../runtime/policy/policy-replay.ts";
import { chosenServer } from "./server.ts";

/** Saved sessions and approvals, here or on a server, for commands that only read or answer. */
export interface Records extends AsyncDisposable {
  /** `named` limits the result to ids that equal, start with or end with it; it may still contain others. */
  sessions(query?: SessionQuery & { readonly named?: string }): Promise<readonly SessionSummary[]>;
  session(sessionId: string): Promise<SessionRecord | undefined>;
  read(sessionId: string, range?: ReadRange): Promise<readonly LoggedEvent[]>;
  /** Yields the events after `after`, then new ones, until `signal` aborts. */
  follow(
    sessionId: string,
    options: { readonly after: number; readonly signal: AbortSignal },
  ): AsyncIterable<LoggedEvent>;
  /** The lines of an archive, without line breaks. */
  archive(sessionId: string): AsyncIterable<string>;
  /** The full saved output of a call; `call` is its id, or the end of it. */
  output(sessionId: string, call: string): Promise<Uint8Array>;
  /** Oldest first. */
  approvals(query?: ApprovalQuery): Promise<readonly Approval[]>;
  /** Resolves as soon as there are pending approvals; to none when the time is up or `signal` aborts. */
  awaitApprovals(query: ApprovalQuery, options: WaitOptions): Promise<readonly Approval[]>;
  /** The first answer wins. */
  answer(approvalId: string, answer: ApprovalAnswer, by: string | undefined): Promise<Answered>;
  /** Oldest first. */
  grants(): Promise<readonly Grant[]>;
  revoke(grantId: string): Promise<void>;
  /** Default time zone: that of the settings. */
  readSpending(query: LedgerQuery): Promise<{ readonly lines: readonly LedgerLine[]; readonly timeZone: string }>;
  replay(request: ReplayRequest): Promise<Replay>;
}

export interface ReadRange extends EventRange {
  readonly types?: readonly EventType[];
}

export interface WaitOptions {
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly signal: AbortSignal;
}

export interface Answered {
  readonly approval: Approval;
  readonly record: SessionRecord;
  /** The process or server that runs the session and continues it. */
  readonly driver: string | undefined;
}

/** Opens the records of the chosen server, or else of this user on this machine. */
export async function openRecords(): Promise<Records> {
  const server = await chosenServer();
  if (server !== undefined) return (await import("./remote-records.ts")).remoteRecords(server);
  return (await import("./local-records.ts")).localRecords();
}
