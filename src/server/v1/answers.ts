import { setTimeout as sleep } from "node:timers/promises";
import type { Approval, ApprovalAnswer, StoredAnswer } from "../../core/session/approval.ts";
import { elicitedContent } from "../../core/session/elicitation.ts";
import { textOf } from "../../core/text/text.ts";
import type { EventParamsOf } from "../../protocol/v1/message-input.ts";
import { parseAnswers, questionsAsked } from "../../protocol/v1/questions.ts";
import { invalid } from "../../protocol/v1/refusal.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { ServerDeps } from "../http/context.ts";
import { ApiFailure } from "../http/failure.ts";
import { type FileRoom, readToolContent } from "../files/content.ts";

/** A client may answer as soon as it sees the call; the approval is saved a moment later. */
const LOOKS = 400;
const LOOK_EVERY_MS = 25;

/** Finds the pending approval for a call. If it was already answered, throws an error that contains the answer. */
export async function openQuestion(
  { runtime }: Pick<ServerDeps, "runtime">,
  sessionId: string,
  toolUseId: string,
): Promise<Approval> {
  for (let look = 1; ; look += 1) {
    const about = (await runtime.approvals.list({ sessionId })).filter(
      ({ request }) => request.tool_use_id === toolUseId,
    );
    const pending = about.find(({ status }) => status === "pending");
    if (pending !== undefined) return pending;
    const last = about.at(-1);
    if (last !== undefined) throw answeredAlready(toolUseId, last.answer);
    if (!(await isOpen(runtime, sessionId, toolUseId)) || look === LOOKS) throw notAsked(toolUseId);
    await sleep(LOOK_EVERY_MS);
  }
}

async function isOpen(runtime: Runtime, sessionId: string, toolUseId: string): Promise<boolean> {
  const { openCalls } = await runtime.state(sessionId);
  return Object.values(openCalls).some(({ eventId, decision }) => eventId === toolUseId && decision === "none");
}

function answeredAlready(toolUseId: string, answer: StoredAnswer | null): ApiFailure {
  const stands =
    answer === null
      ? "it was canceled or expired before anyone answered"
      : `${answer.behavior === "allow" ? "allowed" : "denied"} by ${answer.by} at ${new Date(answer.at).toISOString()}`;
  return new ApiFailure("conflict_error", `${toolUseId} was already answered: ${stands}.`, {
    details: { error_code: "approval_closed" },
  });
}

function notAsked(toolUseId: string): Error {
  return invalid(
    `${JSON.stringify(toolUseId)} is not waiting for an answer. For the events that a session is waiting for, see stop_reason.event_ids of its last session.status_idle.`,
  );
}

export function confirmationAnswer(
  { request }: Approval,
  { tool_use_id: id, result, deny_message: message }: EventParamsOf<"user.tool_confirmation">,
): ApprovalAnswer {
  if (result === "allow" && message != null)
    throw invalid("deny_message is only allowed with a denial. Omit it, or deny the call.");
  if (result === "allow" && (request.kind === "question" || request.kind === "custom_tool"))
    throw invalid(`${id} is waiting for a result, not for permission. Send a user.custom_tool_result.`);
  // A denied custom tool call needs a text as its result.
  const said = message ?? (request.kind === "custom_tool" ? "The call was denied." : undefined);
  return { behavior: result, ...(result === "deny" && said !== undefined && { message: said }) };
}

export async function resultAnswer(
  deps: ServerDeps & { readonly room: FileRoom },
  { request, project }: Approval,
  { custom_tool_use_id: id, content = [], is_error: isError }: EventParamsOf<"user.custom_tool_result">,
): Promise<ApprovalAnswer> {
  if (request.kind === "custom_tool")
    return {
      behavior: "allow",
      result: {
        content: await readToolContent(deps, { project, room: deps.room }, content),
        isError: isError === true,
      },
    };
  if (request.kind !== "question")
    throw invalid(`${id} is not a custom tool call. Send a user.tool_confirmation that allows or denies it.`);
  const text = textOf(content).trim();
  if (isError === true) return { behavior: "deny", ...(text !== "" && { message: text }) };
  const questions = questionsAsked(request.input, request.server);
  const answers = parseAnswers(text, questions);
  const problems = request.server === undefined ? wrongAnswers(answers, questions) : wrongFields(request, answers);
  if (problems.length > 0) throw invalid(`content: ${problems.join("; ")}`);
  return { behavior: "allow", answers };
}

function wrongAnswers(answers: Readonly<Record<string, string>>, questions: readonly string[]): readonly string[] {
  return [
    ...questions
      .filter((question) => !Object.hasOwn(answers, question))
      .map((question) => `the answer to ${JSON.stringify(question)} is missing`),
    ...Object.keys(answers)
      .filter((question) => !questions.includes(question))
      .map((question) => `the agent did not ask ${JSON.stringify(question)}`),
  ];
}

function wrongFields({ input }: Approval["request"], answers: Readonly<Record<string, string>>): readonly string[] {
  return elicitedContent(input, answers).problems ?? [];
}
