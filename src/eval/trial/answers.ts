import type { AskPermission, PermissionAnswer, PermissionQuestion } from "../../core/session/approval.ts";
import type { AnswerAsWritten } from "../../core/suite/suite-schema.ts";
import { patternIn } from "../../core/suite/suite-pattern.ts";
import { fits } from "../compare/matches-expected.ts";

export interface CaseAnswers {
  readonly ask: AskPermission;
  /** Requests that the case has no answer for, one line each. */
  readonly unanswered: readonly string[];
}

const BY = "the case";

/** Answers approvals and questions as the case says. Denies and records anything else. */
export function caseAnswers(answers: readonly AnswerAsWritten[], onUnanswered: () => void): CaseAnswers {
  const left = answers.map((answer) => ({ answer, times: "times" in answer ? (answer.times ?? Infinity) : Infinity }));
  const unanswered: string[] = [];
  const take = (fitting: (answer: AnswerAsWritten) => boolean): AnswerAsWritten | undefined => {
    const found = left.find(({ answer, times }) => times > 0 && fitting(answer));
    if (found !== undefined) found.times -= 1;
    return found?.answer;
  };
  return {
    unanswered,
    ask(question) {
      const answer = question.kind === "question" ? toQuestions(question, take) : toCall(question, take);
      if (answer !== undefined) return { ...answer, by: BY };
      unanswered.push(`${question.title} (${question.tool}, asked by ${question.askedBy})`);
      onUnanswered();
      return { behavior: "deny", message: "Nobody is there to answer this.", by: BY };
    },
  };
}

type Take = (fitting: (answer: AnswerAsWritten) => boolean) => AnswerAsWritten | undefined;

function toCall({ kind, tool, input }: PermissionQuestion, take: Take): PermissionAnswer | undefined {
  const found = take((answer) =>
    kind === "plan" ? "plan" in answer : "tool" in answer && answer.tool === tool && fits(answer.with ?? {}, input),
  );
  if (found === undefined || "question" in found) return undefined;
  const { message } = found;
  return {
    behavior: "plan" in found ? found.plan : found.decision,
    ...(message !== undefined && { message }),
    ...("input" in found && found.input !== undefined && { input: { ...input, ...found.input } }),
  };
}

/** Every question of the call needs its own answer. */
function toQuestions({ input }: PermissionQuestion, take: Take): PermissionAnswer | undefined {
  const asked = questionsIn(input);
  const answers: Record<string, string> = {};
  for (const question of asked) {
    const found = take(
      (answer) =>
        "question" in answer && (patternIn(answer.question)?.test(question) ?? question.includes(answer.question)),
    );
    if (found === undefined || !("question" in found)) return undefined;
    answers[question] = found.answer;
  }
  return asked.length === 0 ? undefined : { behavior: "allow", answers };
}

function questionsIn({ questions }: PermissionQuestion["input"]): readonly string[] {
  return Array.isArray(questions) ? questions.map((one: { readonly question?: unknown }) => String(one.question)) : [];
}
