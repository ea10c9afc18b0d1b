import { setTimeout as sleep } from "node:timers/promises";
import type { EngineHost, EngineRequest } from "../../../core/ports/engine.ts";
import { messageOf } from "../../../core/errors.ts";
import type { EventDraft } from "../../../core/events/events.ts";
import { AnswerDraft } from "./answer-draft.ts";
import { readAnswer } from "./answer-stream.ts";
import { unreadableAnswer, refusedBy, RequestFailure } from "./failure.ts";
import { post, readAnswerText } from "./post.ts";
import { AnswerPreviews } from "./previews.ts";
import type { Answer, ApiRequest } from "./wire.ts";

/** Milliseconds before the first retry; doubles with each one. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** If the API asks for a longer wait, the request is not retried in this turn. */
const PATIENCE_MS = 60_000;
/** How often an overloaded model is tried before the fallback model is used. */
const ATTEMPTS_BEFORE_FALLBACK = 3;

export type RequestClass = "main" | "subagent" | "compaction" | "auxiliary";

/** The origin of a request. */
export interface Asker {
  readonly sessionId: string;
  readonly gateway: EngineRequest["gateway"];
  readonly host: Pick<EngineHost, "newEventId" | "emit">;
  /** How often a failed request is retried. */
  readonly retries: number;
  /** Set for a subagent's thread. */
  readonly threadId?: string | undefined;
  readonly agentId?: string | undefined;
  readonly parentAgentId?: string | undefined;
}

export interface ModelQuestion {
  readonly request: (model: string) => ApiRequest;
  readonly model: string;
  /** Used when the model is overloaded. */
  readonly fallback?: string | undefined;
  readonly requestClass: RequestClass;
  readonly betas: readonly string[];
  /** Whether people see the answer while it is streamed. */
  readonly isShown: boolean;
}

/**
 * Asks the model, with retries, and resolves with its whole answer. Until then it emits only previews, and withdraws
 * those that no event follows. If `signal` aborts, resolves with the part received so far. Rejects with a
 * `RequestFailure`.
 */
export async function askModel(question: ModelQuestion, asker: Asker, signal: AbortSignal): Promise<Answer> {
  const previews = new AnswerPreviews();
  const { fallback, isShown } = question;
  let { model } = question;
  let retries = asker.retries;
  for (let attempt = 1; ; attempt += 1) {
    const request = question.request(model);
    const draft = new AnswerDraft(request.model, () => asker.host.newEventId());
    try {
      await stream({ ...question, request }, asker, { draft, previews: isShown ? previews : undefined, signal });
      const answer = draft.finish({ isInterrupted: !draft.isComplete });
      await withdraw(previews, asker, answer.stopReason === "refusal" ? [] : idsIn(answer));
      return answer;
    } catch (thrown) {
      await withdraw(previews, asker, []);
      if (signal.aborted) return draft.finish({ isInterrupted: true });
      const failure = thrown instanceof RequestFailure ? thrown : unreadableAnswer(messageOf(thrown));
      if (failure.kind === "overloaded" && fallback !== undefined && model !== fallback) {
        // With fewer retries, the fallback model would never be asked.
        retries = Math.max(retries, ATTEMPTS_BEFORE_FALLBACK);
        if (attempt >= ATTEMPTS_BEFORE_FALLBACK) model = fallback;
      }
      const waitMs = Math.max(failure.retryAfterMs ?? 0, Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS));
      if (!failure.isRetryable || attempt > retries || waitMs > PATIENCE_MS) throw failure;
      await asker.host.emit({ kind: "event", draft: retryEvent(failure, { attempt, retries, waitMs, asker }) });
      await sleep(waitMs, undefined, { signal }).catch(() => {});
      if (signal.aborted) return new AnswerDraft(request.model, asker.host.newEventId).finish({ isInterrupted: true });
    }
  }
}

async function stream(
  { request, requestClass, betas }: Pick<ModelQuestion, "requestClass" | "betas"> & { readonly request: ApiRequest },
  asker: Asker,
  {
    draft,
    previews,
    signal,
  }: { readonly draft: AnswerDraft; readonly previews: AnswerPreviews | undefined; readonly signal: AbortSignal },
): Promise<void> {
  const { gateway, host } = asker;
  const response = await post(gateway, {
    isBeta: betas.length > 0,
    headers: {
      "content-type": "application/json",
      accept: "text/event-stream",
      authorization: `Bearer ${gateway.token}`,
      "anthropic-version": "2023-06-01",
      ...(betas.length > 0 && { "anthropic-beta": betas.join(",") }),
      ...labels(asker, requestClass),
    },
    body: JSON.stringify(request),
    signal,
  });
  const { status, header } = response;
  if (status >= 400) throw refusedBy(status, { body: await readAnswerText(response), header });
  await readAnswer(response, draft, {
    signal,
    onEvent: async (event) => {
      const fact = previews?.take(event, draft);
      if (fact !== undefined) await host.emit(fact);
    },
  });
}

/** The gateway identifies requests by these labels and refuses requests without them. */
function labels({ sessionId, agentId, parentAgentId }: Asker, requestClass: RequestClass): Record<string, string> {
  return {
    "x-claude-code-session-id": sessionId,
    "x-claude-code-request-class": requestClass,
    ...(agentId !== undefined && { "x-claude-code-agent-id": agentId }),
    ...(parentAgentId !== undefined && { "x-claude-code-parent-agent-id": parentAgentId }),
  };
}

async function withdraw(previews: AnswerPreviews, { host }: Asker, kept: readonly string[]): Promise<void> {
  for (const fact of previews.withdraw(kept)) await host.emit(fact);
}

function idsIn({ blocks }: Answer): string[] {
  return blocks.flatMap((block) => (block.type === "text" || block.type === "thinking" ? [block.id] : []));
}

function retryEvent(
  { status, kind }: RequestFailure,
  {
    attempt,
    retries,
    waitMs,
    asker,
  }: { readonly attempt: number; readonly retries: number; readonly waitMs: number; readonly asker: Asker },
): EventDraft<"session.error"> {
  return {
    type: "session.error",
    ...(asker.threadId !== undefined && { session_thread_id: asker.threadId }),
    error: {
      type:
        status === 429
          ? "model_rate_limited_error"
          : status === 529
            ? "model_overloaded_error"
            : "model_request_failed_error",
      message: `Model request failed (${status ?? kind}). Retrying (attempt ${attempt} of ${retries}).`,
      retry_status: { type: "retrying" },
      code: "model_failed",
      http_status: status,
      retry_after_ms: waitMs,
    },
  };
}
