import { z } from "zod";
import type { Approval, ApprovalAnswer } from "../../core/session/approval.ts";
import { toolContent } from "../../core/events/content.ts";
import { approvalRequested } from "../../core/events/capstan.ts";
import { resultParams } from "../v1/message-input.ts";
import { isoTime, isoTimeOrNull, msOf, msOrNull, queryNumber, timestamp } from "./common.ts";

const STATUSES = ["pending", "answered", "settled"] as const;
/** In seconds. Proxies time out idle requests later than this. */
const MAX_WAIT = 60;

/** The default limit if closed approvals are included. */
export const LISTED = 200;
const MAX_LISTED = 1_000;

const texts = z.record(z.string(), z.string());

export const approval = z.object({
  id: z.string(),
  session_id: z.string(),
  project: z.string(),
  agent: z.string(),
  status: z
    .enum(STATUSES)
    .describe(
      "pending` waits for a person; `answered` has an answer that the session has not acted on yet; `settled` is closed.",
    ),
  request: approvalRequested.describe("The request, as in the log."),
  created_at: timestamp,
  expires_at: timestamp.nullable().describe("After this time it counts as denied."),
  answer: z
    .object({
      behavior: z.enum(["allow", "deny"]),
      message: z.string().optional(),
      input: z.record(z.string(), z.unknown()).optional(),
      scope: z.enum(["once", "session", "project", "always"]).optional(),
      rules: z.array(z.string()).optional(),
      answers: texts.optional(),
      notes: texts.optional(),
      result: z.object({ content: toolContent, is_error: z.boolean() }).optional(),
      by: z.string(),
      from: z.string(),
      at: timestamp,
    })
    .nullable(),
});
export type WireApproval = z.infer<typeof approval>;

export const approvalQuery = z.strictObject({
  status: z.enum(STATUSES).optional(),
  session_id: z.string().optional(),
  after: z.string().optional().describe("Only approvals requested after the one with this id."),
  limit: queryNumber({ min: 1, max: MAX_LISTED })
    .optional()
    .describe(
      `At most this many, the most recent ones. Default: ${LISTED}; all with \`status=pending\` or \`answered\`.`,
    ),
  wait: queryNumber({ min: 0, max: MAX_WAIT })
    .optional()
    .describe("In seconds: how long to wait for an approval while the list would be empty."),
});

export const approvalWait = z.strictObject({
  wait: queryNumber({ min: 0, max: MAX_WAIT })
    .optional()
    .describe("In seconds: how long to wait for an answer if there is none."),
});

export const approvalAnswer = z.strictObject({
  behavior: z.enum(["allow", "deny"]),
  message: z.string().optional().describe("For a denial: the message to the model."),
  input: z.record(z.string(), z.unknown()).optional().describe("For a tool call: run it with this input instead."),
  scope: z
    .enum(["once", "session", "project"])
    .optional()
    .describe("How long the answer is remembered. Default: once, not remembered."),
  rules: z.array(z.string()).optional().describe("The rules to remember instead of the suggested ones."),
  answers: texts.optional().describe("For a question: question → answer, with the questions as the agent wrote them."),
  notes: texts.optional().describe("For a question: question → a note about the answer."),
  result: z
    .strictObject({ content: z.union([z.string(), resultParams]), is_error: z.boolean().optional() })
    .optional()
    .describe("For a custom tool: its result."),
});
export type WireAnswer = z.infer<typeof approvalAnswer>;

/** Converts an answer to the runtime's format. */
export function answerFromWire({ result, ...answer }: WireAnswer): ApprovalAnswer {
  if (result === undefined) return answer;
  const { content, is_error: isError = false } = result;
  const blocks = typeof content === "string" ? [{ type: "text" as const, text: content }] : content;
  return { ...answer, result: { content: blocks, isError } };
}

export function answerToWire(answer: ApprovalAnswer & { readonly scope?: WireAnswer["scope"] }): WireAnswer {
  return { ...plain(answer), scope: answer.scope };
}

export function approvalToWire(given: Approval): WireApproval {
  const { id, sessionId, project, agent, status, request, createdAt, expiresAt, answer } = given;
  return {
    id,
    session_id: sessionId,
    project,
    agent,
    status,
    request,
    created_at: isoTime(createdAt),
    expires_at: isoTimeOrNull(expiresAt),
    answer: answer && { ...plain(answer), by: answer.by, from: answer.from, at: isoTime(answer.at) },
  };
}

export function approvalFromWire(given: WireApproval): Approval {
  const { id, session_id, project, agent, status, request, created_at, expires_at, answer } = given;
  return {
    id,
    sessionId: session_id,
    project,
    agent,
    status,
    request,
    createdAt: msOf(created_at),
    expiresAt: msOrNull(expires_at),
    answer: answer && { ...answerOf(answer), by: answer.by, from: answer.from, at: msOf(answer.at) },
  };
}

type PlainAnswer = Omit<NonNullable<WireApproval["answer"]>, "by" | "from" | "at">;

function plain({ behavior, message, input, scope, rules, answers, notes, result }: ApprovalAnswer): PlainAnswer {
  return {
    behavior,
    ...(message !== undefined && { message }),
    ...(input !== undefined && { input }),
    ...(scope !== undefined && { scope }),
    ...(rules !== undefined && { rules: [...rules] }),
    ...(answers !== undefined && { answers }),
    ...(notes !== undefined && { notes }),
    ...(result !== undefined && { result: { content: [...result.content], is_error: result.isError } }),
  };
}

function answerOf({ result, ...answer }: PlainAnswer): ApprovalAnswer {
  if (result === undefined) return answer;
  return { ...answer, result: { content: result.content, isError: result.is_error } };
}
