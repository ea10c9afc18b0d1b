import type { Approval, ApprovalRequest } from "../../../core/session/approval.ts";
import type { Caller } from "../../http/context.ts";
import type { ApiDeps } from "../deps.ts";

/** How many events to read at once. Open requests are near the end of the log. */
const PAGE = 200;

/** Approvers must see what runs; others see what the log shows. */
export async function shownTo({ log }: ApiDeps, caller: Caller, one: Approval): Promise<Approval> {
  if (caller.role !== "viewer") return one;
  const request = one.status === "settled" ? one.request : await loggedRequest(log, one);
  if (one.answer === null) return { ...one, request };
  // Both may contain secrets until the session has acted on them.
  const { input: _input, result: _result, ...answer } = one.answer;
  return { ...one, request, answer };
}

/** Without its input if the log is not available. */
async function loggedRequest(log: ApiDeps["log"], { id, sessionId, request }: Approval): Promise<ApprovalRequest> {
  for (let upTo = (await log?.head(sessionId)) ?? 0; upTo > 0; upTo -= PAGE) {
    const page = (await log?.events(sessionId, { after: Math.max(0, upTo - PAGE), upTo })) ?? [];
    for (const { event } of page)
      if (event.type === "capstan.approval_requested" && event.approval_id === id) return event;
  }
  return { ...request, input: {} };
}
