import { z } from "zod";
import { formFields } from "../../core/session/elicitation.ts";
import { invalid } from "./refusal.ts";

/** Questions of the agent's own, and of an MCP server, as clients of the Managed Agents API answer them: with a text. */

const answer = z.union([z.string(), z.number().transform(String), z.boolean().transform(String), z.array(z.string())]);
const answersByQuestion = z.record(
  z.string(),
  answer.transform((given) => (Array.isArray(given) ? given.join(", ") : given)),
);

const asked = z.object({ questions: z.array(z.object({ question: z.string() })).catch([]) });

/** What is asked, in the words of the question; the names of the fields for a form. */
export function questionsAsked(
  input: Readonly<Record<string, unknown>>,
  server: string | undefined,
): readonly string[] {
  if (server !== undefined) return formFields(input).map(({ name }) => name);
  const read = asked.safeParse(input);
  return read.success ? read.data.questions.map(({ question }) => question) : [];
}

/** The text is a JSON object, question → answer. Where one thing is asked, the answer alone will do. */
export function answersIn(text: string, questions: readonly string[]): Record<string, string> {
  const read = answersByQuestion.safeParse(parsed(text));
  if (read.success) return read.data;
  const [only, ...others] = questions;
  if (only !== undefined && others.length === 0) return { [only]: text };
  if (only === undefined && text === "") return {};
  throw invalid(
    `content: ${questions.length} things are asked. Answer with the text of a JSON object: ${JSON.stringify(
      Object.fromEntries(questions.map((question) => [question, "…"])),
    )}`,
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
