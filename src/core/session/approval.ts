import type { EventOf } from "../events/events.ts";
import type { ToolContent } from "../events/content.ts";

/**
 * A saved question: to a person, about one tool call, a plan, or a question of the agent; or to a client, for the
 * result of a custom tool. Answered once.
 */
export interface Approval {
  readonly id: string;
  readonly sessionId: string;
  readonly project: string;
  readonly agent: string;
  readonly status: ApprovalStatus;
  /** As in the log, but with the input unredacted until it is answered: an approver must see what runs. */
  readonly request: ApprovalRequest;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds since the epoch; after that it counts as denied. */
  readonly expiresAt: number | null;
  readonly answer: StoredAnswer | null;
}

export type ApprovalRequest = EventOf<"capstan.approval_requested">;

/**
 * `pending` waits for a person; `answered` has an answer that the session has not acted on yet; `settled` is closed,
 * with or without an answer: acted on, expired, or canceled with its turn.
 */
export type ApprovalStatus = "pending" | "answered" | "settled";

export type GrantScope = "once" | "session" | "project" | "always";

export interface ApprovalAnswer {
  readonly behavior: "allow" | "deny";
  /** For a denial: the message for the model. */
  readonly message?: string;
  /** For a tool call: run it with this input instead. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** How long the answer is remembered (default: `once`, not at all). */
  readonly scope?: GrantScope;
  /** The rules to remember instead of the suggested ones. */
  readonly rules?: readonly string[];
  /**
   * For a question: question → answer, with the agent's exact question as the key; for a server's form: field → value.
   */
  readonly answers?: Readonly<Record<string, string>>;
  /** For a question: question → a note next to the answer. */
  readonly notes?: Readonly<Record<string, string>>;
  /** For a custom tool: its result. Kept until the session has acted on it; then the log has it. */
  readonly result?: { readonly content: ToolContent; readonly isError: boolean };
  /** The id of this answer's event in the log (default: a new one). */
  readonly eventId?: string;
}

export interface StoredAnswer extends ApprovalAnswer {
  /** Who answered, as far as the channel reveals it. */
  readonly by: string;
  /** The channel: `cli`, `library`, … */
  readonly from: string;
  /** Through a server: the id of the key or login. Unlike names, ids are unique. */
  readonly key?: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A remembered answer: a rule that allows matching calls without asking again. */
export interface Grant {
  readonly id: string;
  readonly rule: string;
  readonly scope: Exclude<GrantScope, "once">;
  /** Where it applies: the session of scope `session`, the project of scope `project`. */
  readonly sessionId: string | null;
  readonly project: string | null;
  readonly approvalId: string;
  readonly by: string;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly uses: number;
}

export interface ApprovalQuery {
  readonly status?: ApprovalStatus;
  readonly sessionId?: string;
  readonly project?: string;
  /** The maximum number, most recent first (default: all). */
  readonly limit?: number;
}

/** Approvals and grants, which outlive every process. Opening and settling one is part of the log's own append. */
export interface ApprovalStore {
  get(approvalId: string): Promise<Approval | undefined>;
  /** Oldest first. */
  list(query?: ApprovalQuery): Promise<readonly Approval[]>;
  /**
   * The first answer wins, and its grants are saved with it. Rejects with `approval_closed`, naming the existing
   * answer, for every later one, and for an expired approval.
   */
  answer(approvalId: string, answer: StoredAnswer, grants: readonly Grant[]): Promise<void>;

  /**
   * Grants that apply to a session: its own, its project's and those of scope `always`. Without a session: all. Oldest
   * first.
   */
  grants(where?: { readonly sessionId: string; readonly project: string }): Promise<readonly Grant[]>;
  /** Resolves to false if the grant does not exist. */
  revoke(grantId: string): Promise<boolean>;
  /** Counts a use. */
  recordUse(grantId: string): Promise<void>;
}

/**
 * Answers approvals as they come up: a person at a terminal, or the program that uses the library. Undefined means that
 * nobody can answer: the approval stays open, and the session waits.
 */
export type AskPermission = (
  question: PermissionQuestion,
) => Promise<PermissionAnswer | undefined> | PermissionAnswer | undefined;

export interface PermissionQuestion {
  readonly approvalId: string;
  readonly sessionId: string;
  readonly callId: string;
  readonly kind: ApprovalRequest["kind"];
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** One line that describes the action. */
  readonly title: string;
  readonly diff: string | undefined;
  readonly commands: readonly string[] | undefined;
  /** The subagent that asks; undefined for the primary thread. */
  readonly agent: string | undefined;
  readonly askedBy: string;
  readonly reason: string;
  /** The rules that a remembered answer would save. */
  readonly remember: readonly string[];
  /** Aborts when someone else has answered, or the question is no longer open. */
  readonly signal: AbortSignal;
}

export type PermissionAnswer = ApprovalAnswer & { readonly by?: string };
