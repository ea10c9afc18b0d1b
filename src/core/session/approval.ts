import type { EventOf } from "../events/events.ts";
import type { ToolOutcome } from "../ports/tool.ts";

/**
 * A stored question: to a person, about one tool call, a plan, or a question the agent asks; or to a client, for the
 * result of a custom tool. Answered once.
 */
export interface Approval {
  readonly id: string;
  readonly sessionId: string;
  readonly project: string;
  readonly agent: string;
  readonly status: ApprovalStatus;
  /** As it stands in the log, but with the input unredacted while nobody has answered: an approver must see what runs. */
  readonly request: ApprovalRequest;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds since the epoch; from then on it counts as denied. */
  readonly expiresAt: number | null;
  readonly answer: StoredAnswer | null;
}

export type ApprovalRequest = EventOf<"capstan.approval_requested">;

/**
 * `pending` waits for a person; `answered` has an answer that the session has not acted on yet; `settled` is over, with
 * or without an answer: acted on, expired, or given up together with its turn.
 */
export type ApprovalStatus = "pending" | "answered" | "settled";

export type GrantScope = "once" | "session" | "project" | "always";

export interface ApprovalAnswer {
  readonly behavior: "allow" | "deny";
  /** For a denial: what the model is told. */
  readonly message?: string;
  /** For a tool call: run it with this input instead. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** How long the answer is remembered. Default: `once`, not at all. */
  readonly scope?: GrantScope;
  /** The rules to remember instead of the ones the approval suggests. */
  readonly rules?: readonly string[];
  /** For a question: question → answer, in the words of the agent's own question; for a server's form: field → value. */
  readonly answers?: Readonly<Record<string, string>>;
  /** For a question: question → a note beside the answer. */
  readonly notes?: Readonly<Record<string, string>>;
  /** For a custom tool: what it returned. Kept until the session has acted on it; from then on the log has it. */
  readonly result?: Pick<ToolOutcome, "content" | "isError">;
  /** The id that the event of this answer is to have in the log. Default: a new one. */
  readonly eventId?: string;
}

export interface StoredAnswer extends ApprovalAnswer {
  /** Who answered, as far as the way they came tells. */
  readonly by: string;
  /** The way they came: `cli`, `library`, … */
  readonly from: string;
  /** Through a server: the id of the key or login. Names may be the same, ids are not. */
  readonly key?: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** A remembered answer: a rule that allows what it matches without asking again. */
export interface Grant {
  readonly id: string;
  readonly rule: string;
  readonly scope: Exclude<GrantScope, "once">;
  /** Where it holds: the session of scope `session`, the project of scope `project`. */
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
  /** Only so many, those that were asked last. Default: all. */
  readonly limit?: number;
}

/** Where approvals and grants outlive every process. Opening and settling one is part of the log's own append. */
export interface ApprovalStore {
  get(approvalId: string): Promise<Approval | undefined>;
  /** Oldest first. */
  list(query?: ApprovalQuery): Promise<readonly Approval[]>;
  /**
   * The first answer wins, and its grants are stored with it. Rejects with `approval_closed`, naming the answer that
   * stands, for every later one, and for one that has expired.
   */
  answer(approvalId: string, answer: StoredAnswer, grants: readonly Grant[]): Promise<void>;

  /** Of one session: its own, its project's and those for always. Without a session: all. Oldest first. */
  grants(where?: { readonly sessionId: string; readonly project: string }): Promise<readonly Grant[]>;
  /** Resolves to false when there is no such grant. */
  revoke(grantId: string): Promise<boolean>;
  /** Counts a use. */
  used(grantId: string): Promise<void>;
}

/**
 * Answers approvals as they come up: a person at a terminal, or the program that uses the library. Undefined means that
 * nobody is there to answer: the approval stays open, and the session waits.
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
  /** One line that says what would happen. */
  readonly title: string;
  readonly diff: string | undefined;
  readonly commands: readonly string[] | undefined;
  /** The subagent that asks; undefined for the primary line. */
  readonly agent: string | undefined;
  readonly askedBy: string;
  readonly reason: string;
  /** The rules that a remembered answer would save. */
  readonly remember: readonly string[];
  /** Aborts when somebody else has answered, or when there is nothing left to answer. */
  readonly signal: AbortSignal;
}

export type PermissionAnswer = ApprovalAnswer & { readonly by?: string };
