import type { Approval, ApprovalAnswer, Grant, GrantScope, StoredAnswer } from "../../core/session/approval.ts";
import type { Clock, Ids } from "../../core/ports/clock.ts";
import { elicitedContent } from "../../core/session/elicitation.ts";
import { CapstanError } from "../../core/errors.ts";
import { parseAllowRule } from "../../core/permission/rule-set.ts";
import type { Store } from "../../core/ports/store.ts";
import { resultOf } from "./given-result.ts";

interface Given {
  readonly approval: Approval;
  readonly answer: ApprovalAnswer;
  readonly by: string;
  readonly from: string;
  readonly key?: string | undefined;
}

/** Checks an answer and stores it with the grants it makes. The first one wins; `approval_closed` tells the others. */
export async function acceptAnswer(
  { store, clock, ids }: { readonly store: Store; readonly clock: Clock; readonly ids: Ids },
  { approval, answer, by, from, key }: Given,
): Promise<void> {
  requireAnswer(answer);
  const rules = rulesToRemember(approval, answer);
  checkAnswers(approval, answer);
  const result = resultOf(approval, answer);
  const now = clock.now();
  const given = { by, from, ...(key !== undefined && { key }), at: now };
  const stored: StoredAnswer = { ...answer, ...result, ...(rules.length > 0 && { rules }), ...given };
  const { scope = "once" } = answer;
  const grants = rules.map((rule): Grant => ({
    id: ids.next("grnt"),
    rule,
    scope: scope === "once" ? "session" : scope,
    sessionId: scope === "session" ? approval.sessionId : null,
    project: scope === "project" ? approval.project : null,
    approvalId: approval.id,
    by,
    createdAt: now,
    lastUsedAt: null,
    uses: 0,
  }));
  await store.approvals.answer(approval.id, stored, grants);
}

const BEHAVIORS: readonly unknown[] = ["allow", "deny"] satisfies ApprovalAnswer["behavior"][];
const SCOPES: readonly unknown[] = ["once", "session", "project", "always"] satisfies GrantScope[];

/** A program without types may answer anything, and nothing but the word itself allows. */
function requireAnswer({ behavior, scope = "once", eventId }: ApprovalAnswer): void {
  if (!BEHAVIORS.includes(behavior))
    throw invalid(`behavior: expected allow or deny, got ${JSON.stringify(behavior)}.`);
  if (!SCOPES.includes(scope))
    throw invalid(`scope: expected once, session, project or always, got ${JSON.stringify(scope)}.`);
  if (eventId !== undefined && !/^sevt_\w+$/.test(eventId))
    throw invalid(`eventId: expected the id of an event, sevt_…, got ${JSON.stringify(eventId)}.`);
}

/** Nothing is remembered of a denial, of an answer for once, or where the asking rule forbids it. */
function rulesToRemember(
  { request }: Approval,
  { behavior, scope = "once", rules, input }: ApprovalAnswer,
): readonly string[] {
  if (scope === "once") {
    if (rules !== undefined) throw invalid("Rules are only remembered with a scope: session, project or always.");
    return [];
  }
  if (behavior === "deny") throw invalid("A denial is not remembered. Write a deny rule to deny for good.");
  if (request.remember.length === 0)
    throw invalid(`This answer may not be remembered: ${request.asked_by} asks every time. Answer it for once.`);
  // The suggested rules speak of the call as it was asked about, which is not what the person wants to run.
  if (input !== undefined && rules === undefined)
    throw invalid("The input was edited. Name the rules to remember, or answer for once.");
  const wanted = rules ?? request.remember;
  if (wanted.length === 0) throw invalid("Name at least one rule to remember, or answer for once.");
  for (const rule of wanted) parseAllowRule(rule);
  return wanted;
}

function checkAnswers({ request }: Approval, { behavior, answers, input }: ApprovalAnswer): void {
  if (request.kind !== "question") {
    if (answers !== undefined) throw invalid("Answers are for a question; this approval is about a tool call.");
    if (request.kind === "custom_tool" && input !== undefined)
      throw invalid("A custom tool is answered by `result`; its input stays as it is.");
    if (request.kind === "plan" && input !== undefined)
      throw invalid("A plan is approved or denied as it is. Deny it with a message to have it changed.");
    return;
  }
  if (input !== undefined) throw invalid("A question is answered by `answers`; its input stays as it is.");
  if (behavior === "deny") return;
  if (request.server !== undefined) {
    const { problems } = elicitedContent(request.input, answers ?? {});
    if (problems !== undefined)
      throw invalid(`The answer does not fit what ${request.server} asks. ${problems.join("; ")}`);
    return;
  }
  const asked = questionsOf(request.input);
  const given = Object.keys(answers ?? {});
  const missing = asked.filter((question) => !given.includes(question));
  const unknown = given.filter((question) => !asked.includes(question));
  if (missing.length > 0) throw invalid(`An answer is missing to: ${missing.join(" / ")}`);
  if (unknown.length > 0)
    throw invalid(`The agent did not ask: ${unknown.join(" / ")}. It asked: ${asked.join(" / ")}`);
}

export function questionsOf(input: Readonly<Record<string, unknown>>): string[] {
  const questions = Array.isArray(input["questions"]) ? (input["questions"] as { question?: unknown }[]) : [];
  return questions.flatMap(({ question }) => (typeof question === "string" ? [question] : []));
}

function invalid(message: string): CapstanError {
  return new CapstanError("invalid_input", message);
}
