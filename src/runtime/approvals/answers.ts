import { z } from "zod";
import type { Approval, ApprovalAnswer, Grant, GrantScope, StoredAnswer } from "../../core/session/approval.ts";
import type { Clock, Ids } from "../../core/ports/clock.ts";
import { describeIssue } from "../../core/agent/standard-schema.ts";
import { isBase64, type ToolContent, toolContent } from "../../core/events/content.ts";
import { elicitedContent } from "../../core/session/elicitation.ts";
import { CapstanError } from "../../core/errors.ts";
import { parseAllowRule } from "../../core/permission/rule-set.ts";
import type { Store } from "../../core/ports/store.ts";

interface Given {
  readonly approval: Approval;
  readonly answer: ApprovalAnswer;
  readonly by: string;
  readonly from: string;
  readonly key?: string | undefined;
}

/** Checks an answer and stores it with its grants. The first answer wins; others are rejected with `approval_closed`. */
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

/** A program without types may answer anything, and only the exact word allows. */
function requireAnswer({ behavior, scope = "once", eventId }: ApprovalAnswer): void {
  if (!BEHAVIORS.includes(behavior))
    throw invalid(`behavior: expected allow or deny, got ${JSON.stringify(behavior)}.`);
  if (!SCOPES.includes(scope))
    throw invalid(`scope: expected once, session, project or always, got ${JSON.stringify(scope)}.`);
  if (eventId !== undefined && !/^sevt_\w+$/.test(eventId))
    throw invalid(`eventId: expected the id of an event, sevt_…, got ${JSON.stringify(eventId)}.`);
}

/** A denial is not remembered, nor a one-time answer, nor an answer that the asking rule forbids to remember. */
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
  // The suggested rules describe the call as it was asked about, which is not what the person wants to run.
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

/** In characters of text. The Claude engine would show the model only a part of a longer one, and the log would not say so. */
const MAX_RESULT = 400_000;

/** In bytes of base64: of one image, and of a whole result. The model API accepts no more. */
const MAX_IMAGE = 5_000_000;
const MAX_BINARY = 20_000_000;
const MEDIA_TYPES = {
  image: ["image/jpeg", "image/png", "image/gif", "image/webp"],
  document: ["application/pdf"],
};

const clientResult = z.strictObject({ content: toolContent, isError: z.boolean() });

/**
 * A client's answer for its tool: a result, which may be an error, or why there is none. Throws `invalid_input` for
 * anything else: content that the model API rejects would make every later request of the session fail.
 */
export function resultOf({ request }: Approval, answer: ApprovalAnswer): Pick<ApprovalAnswer, "result"> {
  const { behavior, result, message } = answer;
  if (request.kind !== "custom_tool") {
    if (result !== undefined)
      throw invalid(`A result is for a custom tool, and ${request.tool} is none. Leave it out.`);
    return {};
  }
  if (behavior === "deny") {
    if (result !== undefined) throw invalid("A denial has no result. Allow with the result, also when it is an error.");
    if (message === undefined || message.trim() === "")
      throw invalid(`Say in the message why ${request.tool} gives no result: the agent is told it.`);
    return {};
  }
  if (result === undefined)
    throw invalid(`${request.tool} runs in a client: allow it with its result, or deny it with a message.`);
  const { data, error } = clientResult.safeParse(result);
  if (data === undefined) throw invalid(error.issues.map((issue) => describeIssue(issue, "result")).join("; "));
  const content = data.content.map(sound).filter((block) => block.type !== "text" || block.text !== "");
  const binary = content.reduce((sum, block) => sum + binaryLength(block), 0);
  if (binary > MAX_BINARY)
    throw invalid(
      `The images and documents of the result have ${binary} bytes in base64, and ${MAX_BINARY} are possible.`,
    );
  const length = content.reduce((sum, block) => sum + textLength(block), 0);
  if (length > MAX_RESULT)
    throw invalid(
      `The result has ${length} characters of text, and ${MAX_RESULT} are possible. Give a part of it, or say where the rest is.`,
    );
  return { result: { content, isError: data.isError } };
}

function sound(block: ToolContent[number], index: number): ToolContent[number] {
  if (block.type === "text") return { ...block, text: block.text.toWellFormed() };
  if (block.type === "search_result")
    return { ...block, content: block.content.map((part) => ({ ...part, text: part.text.toWellFormed() })) };
  const { source } = block;
  if (source.type === "base64") requireReadable(block.type, index, source);
  return block.type === "document" && source.type === "text"
    ? { ...block, source: { ...source, data: source.data.toWellFormed() } }
    : block;
}

function requireReadable(
  type: "image" | "document",
  index: number,
  source: { data: string; media_type: string },
): void {
  const { data, media_type: mediaType } = source;
  const known = MEDIA_TYPES[type];
  if (!known.includes(mediaType))
    throw invalid(`content.${index}: ${mediaType} is no ${type} that the model can read. Give ${known.join(", ")}.`);
  if (!isBase64(data)) throw invalid(`content.${index}: the data of the ${type} is not base64.`);
  if (type === "image" && data.length > MAX_IMAGE)
    throw invalid(`content.${index}: the image has ${data.length} bytes in base64, and ${MAX_IMAGE} are possible.`);
}

function binaryLength(block: ToolContent[number]): number {
  return "source" in block && typeof block.source === "object" && block.source.type === "base64"
    ? block.source.data.length
    : 0;
}

function textLength(block: ToolContent[number]): number {
  if (block.type === "text") return block.text.length;
  if (block.type === "search_result") return block.content.reduce((sum, { text }) => sum + text.length, 0);
  return block.source.type === "text" ? block.source.data.length : 0;
}

function invalid(message: string): CapstanError {
  return new CapstanError("invalid_input", message);
}
