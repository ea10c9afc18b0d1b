import type { Approval, AskPermission, PermissionQuestion } from "../../core/session/approval.ts";
import type { CallRequest } from "../../core/ports/engine.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import { acceptAnswer } from "./answers.ts";
import type { SessionDeps } from "../session-deps.ts";

interface Put {
  readonly ask: AskPermission;
  readonly approval: Approval;
  readonly call: CallRequest;
  readonly signal: AbortSignal;
}

/**
 * Puts a question to whoever is in this host and stores the answer. False when nobody answers there. A failure is a denial:
 * an error never allows. Never rejects.
 */
export async function putQuestion(
  deps: Pick<SessionDeps, "store" | "clock" | "ids">,
  { ask, approval, call, signal }: Put,
): Promise<boolean> {
  try {
    const given = await ask(question(approval, { call, signal }));
    if (given === undefined) return false;
    const { by = "caller", ...answer } = given;
    await acceptAnswer(deps, { approval, answer, by, from: "library" });
  } catch (thrown) {
    // Somebody else may have answered first; then theirs counts.
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
