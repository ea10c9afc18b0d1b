import type { Approval, AskPermission, PermissionQuestion } from "../../core/session/approval.ts";
import type { CallRequest } from "../../core/ports/engine.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import { askedCalls } from "../../core/session/state.ts";
import { acceptAnswer } from "./answers.ts";
import type { SessionBasics, ToolSettings } from "../session-deps.ts";

interface Put {
  readonly ask: AskPermission;
  readonly approval: Approval;
  readonly call: CallRequest;
  readonly signal: AbortSignal;
}

/**
 * Asks the person at this host, and stores the answer. False when nobody there answers. A failure is a denial: an error
 * never allows. Never rejects.
 */
export async function putQuestion(
  deps: Pick<SessionBasics, "store" | "clock" | "ids">,
  { ask, approval, call, signal }: Put,
): Promise<boolean> {
  try {
    const given = await ask(question(approval, { call, signal }));
    if (given === undefined) return false;
    const { by = "caller", ...answer } = given;
    await acceptAnswer(deps, { approval, answer, by, from: "library" });
  } catch (thrown) {
    // Someone else may have answered first; then their answer counts.
    if (thrown instanceof CapstanError && thrown.code === "approval_closed") return true;
    const message = `The question could not be answered: ${messageOf(thrown)}`;
    const answer = { behavior: "deny" as const, message };
    await acceptAnswer(deps, { approval, answer, by: "error", from: "library" }).catch(() => {});
  }
  return true;
}

function question(
  { id, sessionId, request }: Approval,
  { call, signal }: { call: CallRequest; signal: AbortSignal },
): PermissionQuestion {
  return {
    approvalId: id,
    sessionId,
    callId: call.callId,
    kind: request.kind,
    tool: call.tool,
    input: call.input,
    title: request.title,
    diff: request.diff,
    commands: request.commands,
    agent: request.agent,
    askedBy: request.asked_by,
    reason: request.reason,
    remember: request.remember,
    signal,
  };
}

export type QuestionDeps = SessionBasics & Pick<ToolSettings, "ask">;

/**
 * Asks the person at this host the questions of a turn that another host left: each once, without a process. The answer
 * is stored like every other, and revives the turn.
 */
export class PendingQuestions {
  readonly #deps: QuestionDeps;
  readonly #needsPerson: (approval: Approval) => Promise<boolean>;
  readonly #onAnswer: () => Promise<void>;
  /** By approval; aborted when there is nothing left to answer. */
  readonly #asked = new Map<string, AbortController>();

  constructor(
    deps: QuestionDeps,
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
      // A failure of the log, or of the process that then starts, is reported to the followers of the turn.
      void putQuestion(this.#deps, { ask, approval, call, signal: over.signal })
        .then((isAnswered) => (isAnswered ? this.#onAnswer() : undefined))
        .catch(() => {});
    }
  }

  /** Withdraws questions that someone else has answered. */
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
