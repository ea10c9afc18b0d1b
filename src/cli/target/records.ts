import type { Approval, ApprovalAnswer, ApprovalQuery, Grant } from "../../core/session/approval.ts";
import type { EventType, LoggedEvent } from "../../core/events/events.ts";
import type { LedgerLine, LedgerQuery } from "../../core/money/ledger.ts";
import type { EventRange, SessionQuery, SessionRecord, SessionSummary } from "../../core/ports/store.ts";
import type { Replay, ReplayRequest } from "../../runtime/policy/policy-replay.ts";
import { chosenServer } from "./server.ts";

/** What is kept of sessions, as commands that only look or answer know it: here, or on a server. */
export interface Records extends AsyncDisposable {
  /** `named`: those whose id is this, or begins or ends with it; others may be among them. */
  sessions(query?: SessionQuery & { readonly named?: string }): Promise<readonly SessionSummary[]>;
  session(sessionId: string): Promise<SessionRecord | undefined>;
  read(sessionId: string, range?: ReadRange): Promise<readonly LoggedEvent[]>;
  /** What is stored after `after`, and then what happens, until `signal` aborts. */
  follow(
    sessionId: string,
    options: { readonly after: number; readonly signal: AbortSignal },
  ): AsyncIterable<LoggedEvent>;
  /** The lines of an archive, without their ends. */
  archive(sessionId: string): AsyncIterable<string>;
  /** All that is kept of what a call gave; `call` is its id, or the end of it. */
  output(sessionId: string, call: string): Promise<Uint8Array>;
  /** Oldest first. */
  approvals(query?: ApprovalQuery): Promise<readonly Approval[]>;
  /** Those that can be answered, as soon as there is one; none when the time is over or `signal` aborts. */
  awaitApprovals(query: ApprovalQuery, options: WaitOptions): Promise<readonly Approval[]>;
  /** The first answer wins. */
  answer(approvalId: string, answer: ApprovalAnswer, by: string | undefined): Promise<Answered>;
  /** Oldest first. */
  grants(): Promise<readonly Grant[]>;
  revoke(grantId: string): Promise<void>;
  /** Without a time zone: by the days that the settings have. */
  spent(query: LedgerQuery): Promise<{ readonly lines: readonly LedgerLine[]; readonly timeZone: string }>;
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
  /** Who drives the session, and goes on with it. */
  readonly driver: string | undefined;
}

/** Those of the server that was chosen, else those of this user on this machine. */
export async function openRecords(): Promise<Records> {
  const server = await chosenServer();
  if (server !== undefined) return (await import("./remote-records.ts")).remoteRecords(server);
  return (await import("./local-records.ts")).localRecords();
}
