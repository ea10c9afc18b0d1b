import { z } from "zod";
import { formFields } from "../../core/session/elicitation.ts";
import { invalid } from "./refusal.ts";

/** Clients of the Managed Agents API answer questions of the agent and of MCP servers with text. */

const answer = z.union([z.string(), z.number().transform(String), z.boolean().transform(String), z.array(z.string())]);
const answersByQuestion = z.record(
  z.string(),
  answer.transform((given) => (Array.isArray(given) ? given.join(", ") : given)),
);

const asked = z.object({ questions: z.array(z.object({ question: z.string() })).catch([]) });

/** The questions as asked; for a form, the names of its fields. */
export function questionsAsked(
  input: Readonly<Record<string, unknown>>,
  server: string | undefined,
): readonly string[] {
  if (server !== undefined) return formFields(input).map(({ name }) => name);
  const read = asked.safeParse(input);
  return read.success ? read.data.questions.map(({ question }) => question) : [];
}

/** Parses a JSON object, question → answer. For a single question, plain text is enough. */
export function parseAnswers(text: string, questions: readonly string[]): Record<string, string> {
  const read = answersByQuestion.safeParse(parseJson(text));
  if (read.success) return read.data;
  const [only, ...others] = questions;
  if (only !== undefined && others.length === 0) return { [only]: text };
  if (only === undefined && text === "") return {};
  throw invalid(
    `content: there are ${questions.length} questions. Answer with the text of a JSON object: ${JSON.stringify(
      Object.fromEntries(questions.map((question) => [question, "…"])),
    )}`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
