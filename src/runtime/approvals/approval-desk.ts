import type { Approval, ApprovalRequest, StoredAnswer } from "../../core/session/approval.ts";
import type { CallRequest } from "../../core/ports/engine.ts";
import { CapstanError } from "../../core/errors.ts";
import type { EventDraft } from "../../core/events/events.ts";
import type { PermissionVerdict } from "../../core/permission/decide.ts";
import type { OpenCall } from "../../core/session/state.ts";
import { putQuestion, type QuestionDeps } from "./put-question.ts";

/** How soon this host sees an answer that another process stored. It sees its own at once. */
const LOOK_EVERY_MS = 250;

/** How an approval ended: with a person's answer, or without one. */
export type Settled =
  | { readonly kind: "answered"; readonly approval: Approval; readonly answer: StoredAnswer }
  | { readonly kind: "expired"; readonly approval: Approval }
  /** The mode or the grants changed, so the question no longer needs an answer. */
  | { readonly kind: "decided"; readonly approval: Approval; readonly verdict: PermissionVerdict }
  /** The process that asked is gone, or the turn is being stopped. The approval itself is untouched. */
  | { readonly kind: "given_up" };

interface Waiting {
  readonly approval: Approval;
  readonly settle: (settled: Settled) => void;
  readonly decideAgain: () => Promise<PermissionVerdict>;
  /** Someone in this host is being asked right now. */
  attended: boolean;
  /** The answer is there, and the call is about to continue. */
  settled: boolean;
}

/** The approvals of one session. Each is stored before anyone sees it; the call then waits for its answer. */
export class ApprovalDesk {
  readonly #deps: QuestionDeps;
  readonly #onChange: () => void;
  readonly #waiting = new Map<string, Waiting>();
  #timer: NodeJS.Timeout | undefined;

  constructor(deps: QuestionDeps, { onChange }: { onChange: () => void }) {
    this.#deps = deps;
    this.#onChange = onChange;
  }

  /** Whether someone in this host is being asked, so that the session is not paused. */
  get attended(): boolean {
    return [...this.#waiting.values()].some((waiting) => waiting.attended);
  }

  /** Whether some question has no answer yet; `callId`: one about this call. */
  isAsking(callId?: string): boolean {
    return [...this.#waiting.values()].some(
      ({ settled, approval }) => !settled && (callId === undefined || approval.request.call_id === callId),
    );
  }

  /** Asks, or keeps waiting for what was asked before a restart. */
  async ask({ call, open, request, decideAgain }: Question, signal: AbortSignal): Promise<Settled> {
    const approvalId = open.approvalId ?? (await this.#open(await request()));
    const approval = await this.#deps.store.approvals.get(approvalId);
    if (approval === undefined) return { kind: "given_up" };
    const { promise, resolve } = Promise.withResolvers<Settled>();
    const settle = (settled: Settled): void => {
      waiting.settled = true;
      resolve(settled);
    };
    const waiting: Waiting = { approval, settle, decideAgain, attended: false, settled: false };
    const over = new AbortController();
    const giveUp = (): void => settle({ kind: "given_up" });
    signal.addEventListener("abort", giveUp, { once: true });
    if (signal.aborted) giveUp();
    this.#waiting.set(approvalId, waiting);
    try {
      this.#askHere(waiting, { call, signal: AbortSignal.any([signal, over.signal]) });
      void this.look();
      return await promise;
    } finally {
      this.#waiting.delete(approvalId);
      signal.removeEventListener("abort", giveUp);
      over.abort();
    }
  }

  /** Settles questions that the mode or the grants now decide. The first to settle an approval wins. */
  async reconsider(): Promise<void> {
    for (const { approval, settle, decideAgain } of this.#waiting.values()) {
      const verdict = await decideAgain().catch(() => undefined);
      if (verdict === undefined || verdict.behavior === "ask") continue;
      // A store that is busy for a moment leaves the question open, which is safe.
      const isFirst = await this.settleBy(approval.id, verdict).catch(() => false);
      if (isFirst) settle({ kind: "decided", approval, verdict });
    }
  }

  /** Closes the approval as decided by policy; false if it was already answered or expired. */
  async settleBy(approvalId: string, { behavior, decidedBy: by }: PermissionVerdict): Promise<boolean> {
    if (behavior === "ask") return false;
    const answer = { behavior, by, from: "session", at: this.#deps.clock.now() };
    return this.#deps.store.approvals.answer(approvalId, answer, []).then(
      () => true,
      (thrown: unknown) => {
        if (thrown instanceof CapstanError && thrown.code === "approval_closed") return false;
        throw thrown;
      },
    );
  }

  /** Looks for answers now. */
  async look(): Promise<void> {
    clearTimeout(this.#timer);
    for (const waiting of this.#waiting.values()) {
      // If the store is busy for a moment, the next look finds the answer.
      const approval = await this.#deps.store.approvals.get(waiting.approval.id).catch(() => waiting.approval);
      const settled = this.#settledBy(approval);
      if (settled !== undefined) waiting.settle(settled);
    }
    if (this.#waiting.size > 0) this.#timer = setTimeout(() => void this.look(), LOOK_EVERY_MS);
  }

  #settledBy(approval: Approval | undefined): Settled | undefined {
    if (approval === undefined) return { kind: "given_up" };
    const { answer, expiresAt } = approval;
    if (answer !== null)
      return answer.from === "session"
        ? { kind: "decided", approval, verdict: verdictOf(answer) }
        : { kind: "answered", approval, answer };
    if (expiresAt !== null && expiresAt <= this.#deps.clock.now()) return { kind: "expired", approval };
    return undefined;
  }

  async #open(draft: EventDraft<"capstan.approval_requested">): Promise<string> {
    const { call_id: callId } = draft;
    await this.#deps.log.append((state) => (callId in state.openCalls ? [draft] : []));
    return draft.approval_id;
  }

  /** Asks the person at this host. A failure there is a denial: an error never allows. */
  #askHere(waiting: Waiting, { call, signal }: { call: CallRequest; signal: AbortSignal }): void {
    const { ask } = this.#deps;
    const { approval } = waiting;
    const leave = (): void => {
      waiting.attended = false;
      this.#onChange();
    };
    if (ask === undefined || approval.status !== "pending") return leave();
    waiting.attended = true;
    void putQuestion(this.#deps, { ask, approval, call, signal }).then((isAnswered) =>
      isAnswered ? this.look().then(() => this.reconsider()) : leave(),
    );
  }
}

interface Question {
  readonly call: CallRequest;
  readonly open: OpenCall;
  /** Describes the call for a person; only called if it was not asked about before. */
  readonly request: () => Promise<EventDraft<"capstan.approval_requested">>;
  readonly decideAgain: () => Promise<PermissionVerdict>;
}

/** What the session itself decided when the mode or the grants changed, perhaps before a crash. */
function verdictOf({ behavior, by }: StoredAnswer): PermissionVerdict {
  const reason = "The mode or the grants changed while the question was open.";
  return { behavior, decidedBy: by, reason, rememberable: false, kind: "tool" };
}

/** The event of an answer, as the API names it. */
export function confirmation(request: ApprovalRequest, answer: StoredAnswer): EventDraft<"user.tool_confirmation"> {
  return {
    type: "user.tool_confirmation",
    ...(answer.eventId !== undefined && { id: answer.eventId }),
    ...(request.session_thread_id != null && { session_thread_id: request.session_thread_id }),
    tool_use_id: request.tool_use_id,
    result: answer.behavior,
    ...(answer.message !== undefined && { deny_message: answer.message }),
    approval_id: request.approval_id,
    by: answer.by,
    from: answer.from,
    ...(answer.scope !== undefined && { scope: answer.scope }),
    ...(answer.rules !== undefined && { rules: [...answer.rules] }),
    ...(answer.answers !== undefined && { answers: { ...answer.answers } }),
  };
}
