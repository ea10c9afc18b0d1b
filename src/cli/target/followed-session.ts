import type { Approval, GrantScope } from "../../core/session/approval.ts";
import type { MessageContent } from "../../core/events/content.ts";
import type { LoggedEvent, Preview } from "../../core/events/events.ts";
import type { EventRange, SessionRecord } from "../../core/ports/store.ts";
import type { FollowedState } from "../../protocol/api/session-state.ts";
import type { Files } from "../../runtime/files/files.ts";
import type { Inbox } from "../../runtime/approvals/inbox.ts";
import type { Turn } from "../../runtime/turn/turn.ts";

export type RememberedScope = Exclude<GrantScope, "once">;

/** What a command needs of a host to follow a session: the host is this process or a server. */
export interface FollowedHost {
  readonly isRemote?: boolean;
  readonly approvals: Pick<Inbox, "list" | "get" | "answer">;
  /** Waits a while for an answer, and returns the approval's current state. If missing, callers poll. */
  awaitAnswer?(approvalId: string, signal: AbortSignal): Promise<Approval>;
  /** The scopes that an answer can be remembered for. Default: all. */
  readonly scopes?: readonly RememberedScope[];
  /** Whether an answer may contain its own rules. Default: yes. */
  readonly mayWriteRules?: () => Promise<boolean>;
  readonly files: Pick<Files, "diff">;
  read(sessionId: string, range?: Pick<EventRange, "after" | "upTo">): Promise<readonly LoggedEvent[]>;
}

/** A session that this process drives, or one on a server. */
export interface Followed {
  readonly id: string;
  readonly record: Pick<SessionRecord, "environment">;
  readonly state: FollowedState;
  send(content: string | MessageContent): Turn;
  interrupt(): Promise<void>;
  events(options?: { readonly after?: number; readonly signal?: AbortSignal }): AsyncIterable<LoggedEvent | Preview>;
  /** Resolves to whether the turn continues after an answer. Only for hosts that act on answers with a delay. */
  continues?(): Promise<boolean>;
}
