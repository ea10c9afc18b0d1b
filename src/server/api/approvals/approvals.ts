import { setTimeout as sleep } from "node:timers/promises";
import type { Approval, ApprovalRequest } from "../../../core/session/approval.ts";
import { dataList } from "../../../protocol/api/common.ts";
import {
  answerFromWire,
  approvalAnswer,
  approvalQuery,
  approvalToWire,
  approvalWait,
  LISTED,
} from "../../../protocol/api/approvals.ts";
import { answererOf, type Caller } from "../../http/context.ts";
import { findApproval, findSession } from "../../http/lookup.ts";
import { approvalComponent } from "../document/components.ts";
import type { ApiDeps } from "../deps.ts";
import { type Api, endpoint } from "../endpoint.ts";
import { requireSuggestedRules } from "../limits.ts";
import { withFiles } from "../../files/content.ts";

const tag = "Approvals";

export function addApprovals(api: Api, deps: ApiDeps): void {
  const { runtime, clock } = deps;
  const isOver = (one: Approval): boolean => one.status !== "pending" || isExpired(one, clock.now());

  endpoint(
    api,
    {
      method: "get",
      path: "/api/approvals",
      role: "viewer",
      tag,
      summary: "List approvals",
      description:
        "Oldest first. With `status=pending`, only approvals that can still be answered. Of the closed ones, only the last `limit`.",
      query: approvalQuery,
      answer: dataList(approvalComponent),
    },
    async ({ caller, query: { status, session_id, after, wait = 0, ...query }, signal }) => {
      if (session_id !== undefined) await findSession(deps, caller.project, session_id);
      const isOpen = status === "pending" || status === "answered";
      const limit = query.limit ?? (isOpen ? undefined : LISTED);
      const find = async (): Promise<readonly Approval[]> => {
        const filter = { status, sessionId: session_id, project: caller.project, ...(!isOpen && { limit }) };
        const found = await runtime.approvals.list(filter);
        const wanted = found.filter(
          (one) => (after === undefined || one.id > after) && !(status === "pending" && isExpired(one, clock.now())),
        );
        // Expired approvals do not count towards the limit.
        return limit === undefined ? wanted : wanted.slice(-limit);
      };
      const found = await waitFor(find, ({ length }) => length > 0, { seconds: wait, signal });
      return {
        data: await Promise.all(found.map(async (one) => approvalToWire(await approvalFor(deps, caller, one)))),
      };
    },
  );

  endpoint(
    api,
    {
      method: "get",
      path: "/api/approvals/{id}",
      role: "viewer",
      tag,
      summary: "Get an approval",
      description:
        "Callers who may answer see the input of a waiting call as it is; viewers see it redacted. Viewers do not see input that an answer changed.",
      query: approvalWait,
      answer: approvalComponent,
    },
    async ({ caller, params: { id }, query: { wait = 0 }, signal }) => {
      const look = (): Promise<Approval> => findApproval(deps, caller.project, id);
      const seen = await waitFor(look, isOver, { seconds: wait, signal });
      return approvalToWire(await approvalFor(deps, caller, seen));
    },
  );

  endpoint(
    api,
    {
      method: "post",
      path: "/api/approvals/{id}/answer",
      role: "operator",
      tag,
      summary: "Answer an approval",
      description:
        "The first answer wins; later ones are rejected with a conflict. The session continues immediately. An answer can be remembered for the session or the project; to remember it for all projects, answer on the server's machine. Below admin, `rules` may only repeat what the approval suggests in `request.remember`.",
      body: approvalAnswer,
      answer: approvalComponent,
    },
    async ({ caller, params: { id }, body }) => {
      const asked = await findApproval(deps, caller.project, id);
      if (asked.status === "pending") requireSuggestedRules(caller, asked, body.rules);
      const answer = await withFiles(deps, caller, answerFromWire(body));
      const answered = await runtime.approvals.answer(id, answer, answererOf(caller));
      // The answer is saved, whatever happens to the session: another process that drives it continues on its own, and
      // the host retries a session that cannot continue now.
      await runtime.attend(asked.sessionId).catch(() => {});
      return approvalToWire(answered);
    },
  );
}

/** Still pending in the store, but too late to answer. */
function isExpired({ expiresAt }: Approval, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

/** How many events to read at once. Open requests are near the end of the log. */
const PAGE = 200;

/** Approvers must see what runs; others see what the log shows. */
async function approvalFor({ log }: ApiDeps, caller: Caller, one: Approval): Promise<Approval> {
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

/** Answers may come through other processes, which do not notify this one. */
const LOOK_EVERY_MS = 250;

/** Polls until the condition is met, the time is up, or the client disconnects; returns the last result. */
async function waitFor<Seen>(
  look: () => Promise<Seen>,
  isThere: (seen: Seen) => boolean,
  { seconds, signal }: { readonly seconds: number; readonly signal: AbortSignal },
): Promise<Seen> {
  const until = performance.now() + seconds * 1_000;
  for (;;) {
    const seen = await look();
    const left = until - performance.now();
    if (isThere(seen) || left <= 0 || signal.aborted) return seen;
    await sleep(Math.min(LOOK_EVERY_MS, left), undefined, { signal }).catch(() => {});
  }
}
