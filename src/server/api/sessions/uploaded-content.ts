import type { ApprovalAnswer } from "../../../core/session/approval.ts";
import type { MessageContent } from "../../../core/events/content.ts";
import type { MessageInput } from "../../../protocol/api/session-requests.ts";
import type { Caller } from "../../http/context.ts";
import { FileRoom, messageContent, toolContent } from "../../files/content.ts";
import type { ApiDeps } from "../deps.ts";

/** Adds the content of the project's files that the message names. */
export async function saidContent(
  deps: ApiDeps,
  { project }: Caller,
  given: MessageInput,
): Promise<string | MessageContent> {
  return typeof given === "string" ? given : messageContent(deps, { project, room: new FileRoom() }, given);
}

/** The same for the result of a custom tool. */
export async function withFiles(deps: ApiDeps, { project }: Caller, answer: ApprovalAnswer): Promise<ApprovalAnswer> {
  if (answer.result === undefined) return answer;
  const { content, isError } = answer.result;
  return {
    ...answer,
    result: { content: await toolContent(deps, { project, room: new FileRoom() }, content), isError },
  };
}
