import type { Approval } from "../../core/session/approval.ts";
import { askedCalls } from "../../core/session/state.ts";
import { putQuestion } from "./put-question.ts";
import type { SessionDeps } from "../session-deps.ts";

/**
 * What a turn that another host left waits for, put to whoever is in this host: each question once, without a process. The
 * answer goes where every answer goes, and brings the turn back.
 */
export class PendingQuestions {
  readonly #deps: SessionDeps;
  readonly #needsPerson: (approval: Approval) => Promise<boolean>;
  readonly #onAnswer: () => Promise<void>;
  /** By approval; aborted when there is nothing left to answer. */
  readonly #asked = new Map<string, AbortController>();

  constructor(
    deps: SessionDeps,
    {
      needsPerson,
      onAnswer,
    }: { readonly needsPerson: (approval: Approval) => Promise<boolean>; readonly onAnswer: () => Promise<void> },
  ) {
    this.#deps = deps;
    this.#needsPerson = needsPerson;
    this.#onAnswer = onAnswer;
  }

  async ask(): Promise<void> {
    const { ask, log, store } = this.#deps;
    if (ask === undefined) return;
    for (const [callId, { approvalId = "" }] of askedCalls(log.state)) {
      const approval = await store.approvals.get(approvalId);
      if (approval === undefined || this.#asked.has(approvalId) || !(await this.#needsPerson(approval))) continue;
      const over = new AbortController();
      this.#asked.set(approvalId, over);
      const { tool, input, traits } = approval.request;
      const call = { callId, tool, input, traits };
      // A failure of the log, or of the process that is then started, is told where the turn is followed.
      void putQuestion(this.#deps, { ask, approval, call, signal: over.signal })
        .then((isAnswered) => (isAnswered ? this.#onAnswer() : undefined))
        .catch(() => {});
    }
  }

  /** Takes back what somebody else has answered. */
  async look(): Promise<void> {
    for (const [approvalId, over] of this.#asked) {
      if (over.signal.aborted) continue;
      const approval = await this.#deps.store.approvals.get(approvalId);
      if (approval?.status !== "pending") over.abort();
    }
  }

  stop(): void {
    for (const over of this.#asked.values()) over.abort();
  }
}
