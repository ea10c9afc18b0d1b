import type { EventOf, SessionEvent } from "../../core/events/events.ts";
import type { AnswerAsWritten } from "../../core/suite/suite-schema.ts";

type Asked = EventOf<"capstan.approval_requested">;

/** The answers of people, including remembered ones, to a session's requests; in the format of a case. */
export function recordedAnswers(events: readonly SessionEvent[]): readonly AnswerAsWritten[] {
  const asked = events.filter((event) => event.type === "capstan.approval_requested");
  const given = new Map(
    events.flatMap((event) =>
      event.type === "user.tool_confirmation" && event.approval_id !== undefined
        ? [[event.approval_id, event] as const]
        : [],
    ),
  );
  const decided = new Map(
    events.flatMap((event) =>
      event.type === "capstan.permission_decided" && event.approval_id !== undefined
        ? [[event.approval_id, event] as const]
        : [],
    ),
  );
  const answers = asked.flatMap((approval) =>
    answersOf(approval, given.get(approval.approval_id), decided.get(approval.approval_id)),
  );
  return together([...answers, ...grantedAnswers(events)]);
}

function answersOf(
  { kind, tool }: Asked,
  given: EventOf<"user.tool_confirmation"> | undefined,
  decided: EventOf<"capstan.permission_decided"> | undefined,
): AnswerAsWritten[] {
  if (kind === "question")
    return Object.entries(given?.answers ?? {}).map(([question, answer]) => ({ question, answer }));
  // Without an answer it expired, which is a denial.
  const decision = given?.result ?? decided?.decision ?? "deny";
  const message = given?.deny_message ?? undefined;
  const said = message === undefined ? {} : { message };
  if (kind === "plan") return [{ plan: decision, ...said }];
  const { input } = decided ?? {};
  return [{ tool, decision, ...said, ...(input !== undefined && { input }) }];
}

/** A trial has no grants, so it asks about calls that a grant answered. */
function grantedAnswers(events: readonly SessionEvent[]): AnswerAsWritten[] {
  return events.flatMap((event) =>
    event.type === "capstan.permission_decided" && event.decided_by.startsWith("grant:")
      ? [{ tool: event.tool, decision: event.decision }]
      : [],
  );
}

/** Uses one answer for requests that were all answered alike; otherwise one each, in order. */
function together(answers: readonly AnswerAsWritten[]): readonly AnswerAsWritten[] {
  const subjects = Map.groupBy(answers, subjectOf);
  return answers.flatMap((answer) => {
    const alike = subjects.get(subjectOf(answer)) ?? [];
    const isOnly = new Set(alike.map((one) => JSON.stringify(one))).size === 1;
    if (isOnly) return alike[0] === answer ? [answer] : [];
    return ["plan" in answer ? answer : { ...answer, times: 1 }];
  });
}

function subjectOf(answer: AnswerAsWritten): string {
  if ("plan" in answer) return "plan";
  return "tool" in answer ? `tool ${answer.tool}` : `question ${answer.question}`;
}
