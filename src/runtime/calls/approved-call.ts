import type { CallRequest } from "../../core/ports/engine.ts";
import type { CallSubject } from "../../core/rules/subject.ts";
import type { ApprovalRequest } from "../../core/session/approval.ts";
import { FILE_FIELDS } from "../paths/file-input.ts";

// What runs after a person allowed a call, and whether it is still what the person saw.

export const MOVED =
  "Not run: a link or a file changed while a person was asked, so that the call would reach something else. Make the call again.";

/** Whether a person has left alone what the call names. */
export function namesSame({ tool, input }: CallRequest, edited: CallRequest["input"] | undefined): boolean {
  const [field] = FILE_FIELDS[tool] ?? [];
  return edited === undefined || (field !== undefined && edited[field] === input[field]);
}

/** Whether the files that a call names are still those that were looked at. */
export function leadsTo({ paths: before }: CallSubject, { paths: now }: CallSubject): boolean {
  return now.every(({ real }) => before.some((place) => place.real === real));
}

/** The approved input runs, even if the call had to be rebuilt from a log without its secrets. */
export function inputAsApproved(call: CallRequest, request: ApprovalRequest): CallRequest["input"] | undefined {
  if (request.kind !== "tool") return undefined;
  return JSON.stringify(request.input) === JSON.stringify(call.input) ? undefined : request.input;
}

/** The input that runs after a person allowed it: theirs, or the agent's question together with its answers. */
export function inputAsAnswered(
  call: CallRequest,
  {
    input,
    answers,
    notes,
  }: { input?: CallRequest["input"]; answers?: object; notes?: Readonly<Record<string, string>> },
): CallRequest["input"] | undefined {
  if (answers === undefined) return input;
  const annotations = Object.fromEntries(
    Object.entries(notes ?? {}).map(([question, text]) => [question, { notes: text }]),
  );
  return { ...call.input, answers, ...(notes !== undefined && { annotations }) };
}
