import type { ApprovalAnswer } from "../../core/approval.ts";
import type { MessageContent } from "../../core/content.ts";
import { CapstanError } from "../../core/errors.ts";
import type { MessageInput } from "../../protocol/api/session-requests.ts";
import type { Turn } from "../../runtime/turn.ts";
import type { Caller } from "../context.ts";
import { FileRoom, messageContent, toolContent } from "../v1/content.ts";
import type { ApiDeps } from "./deps.ts";

/** With the content of the project's files that it names. */
export async function saidContent(
  deps: ApiDeps,
  { project }: Caller,
  given: MessageInput,
): Promise<string | MessageContent> {
  return typeof given === "string" ? given : messageContent(deps, { project, room: new FileRoom() }, given);
}

/** The same with the result of a custom tool. */
export async function withFiles(deps: ApiDeps, { project }: Caller, answer: ApprovalAnswer): Promise<ApprovalAnswer> {
  if (answer.result === undefined) return answer;
  const { content, isError } = answer.result;
  return {
    ...answer,
    result: { content: await toolContent(deps, { project, room: new FileRoom() }, content), isError },
  };
}

/** Where a turn begins in the log: before the event that started it. Rejects when it was refused. */
export async function placeOfTurn(turn: Turn): Promise<number> {
  for await (const item of turn) if ("seq" in item) return item.seq - 1;
  throw new CapstanError("session_ended", "The session was closed before the turn began. Try again.", {
    retryable: true,
  });
}
