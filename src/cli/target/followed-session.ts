import type { Approval, GrantScope } from "../../core/session/approval.ts";
import type { MessageContent } from "../../core/events/content.ts";
import type { LoggedEvent, Preview } from "../../core/events/events.ts";
import type { EventRange, SessionRecord } from "../../core/ports/store.ts";
import type { FollowedState } from "../../protocol/api/session-state.ts";
import type { Files } from "../../runtime/files/files.ts";
import type { Inbox } from "../../runtime/approvals/inbox.ts";
import type { Turn } from "../../runtime/turn/turn.ts";

export type RememberedScope = Exclude<GrantScope, "once">;

/** A host, as a command knows it that follows a session at a terminal: this process, or a server. */
export interface FollowedHost {
  /** It is a server. */
  readonly isRemote?: boolean;
  readonly approvals: Pick<Inbox, "list" | "get" | "answer">;
  /** Waits a while for an answer, and gives the approval as it is then. Without it, one must look again and again. */
  awaitAnswer?(approvalId: string, signal: AbortSignal): Promise<Approval>;
  /** How far an answer can be remembered. Default: everywhere. */
  readonly scopes?: readonly RememberedScope[];
  /** Whether an answer may name rules of its own. Default: it may. */
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
  /** Whether the turn goes on after an answer, where that is only seen some time later. */
  goesOn?(): Promise<boolean>;
}
