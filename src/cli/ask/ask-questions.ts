import { z } from "zod";
import type { Approval } from "../../core/session/approval.ts";
import { type FormField, formFields } from "../../core/session/elicitation.ts";
import { wrapText } from "../terminal/text.ts";
import type { Prompts } from "./ask-prompts.ts";
import { type GivenAnswer, notEmpty } from "./ask-tool.ts";
import { color, columns } from "../terminal/text.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

/** Parsed leniently: a question with odd fields is still a question. */
const question = z.object({
  question: z.string(),
  header: z.string().optional().catch(undefined),
  multiSelect: z.boolean().optional().catch(undefined),
  options: z
    .array(z.object({ label: z.string(), description: z.string().optional().catch(undefined) }))
    .optional()
    .catch(undefined),
});
/** `optional`: a form field of an MCP server that may stay empty. */
export type Question = z.infer<typeof question> & { readonly optional?: boolean };

export function questionsIn({ request }: Approval): readonly Question[] {
  if (request.server !== undefined) return formFields(request.input).map(fieldQuestion);
  const { questions } = request.input;
  return (Array.isArray(questions) ? (questions as unknown[]) : []).flatMap((entry) => {
    const read = question.safeParse(entry);
    return read.success ? [read.data] : [];
  });
}

/** Optional choices become text fields, because a list cannot be left empty. */
function fieldQuestion({ name, about, options, several, required }: FormField): Question {
  return {
    question: name,
    header: required ? about : `${about}; optional`,
    multiSelect: several,
    options: required ? options.map((label) => ({ label })) : [],
    optional: !required,
  };
}

/** The message of an MCP server, and its URL if it has no form. */
function serverLines({ request }: Approval): string[] {
  const { message, url } = request.input;
  return [message, url].flatMap((text) => (typeof text === "string" ? [escapeHidden(text)] : []));
}

/** Cannot collide with an option's label. */
const OTHER = "\u0000other";

export async function askQuestions(approval: Approval, prompts: Prompts): Promise<GivenAnswer> {
  const questions = questionsIn(approval);
  const { agent, server } = approval.request;
  const line = agent === undefined ? "The agent" : `The subagent ${escapeHidden(agent)}`;
  const who = server === undefined ? line : `The MCP server ${escapeHidden(server)}`;
  print(`\n${color.bold(`${who} asks:`)}`);
  if (server !== undefined) for (const text of serverLines(approval)) print(text);
  for (;;) {
    const answers = await answersTo(questions, prompts);
    const given = answers === undefined ? "interrupt" : await confirmAnswers(questions, { answers, prompts });
    if (given !== "again") return given;
  }
}

/** Undefined if the person cancels the first question; canceling a later one returns to the previous one. */
async function answersTo(
  questions: readonly Question[],
  prompts: Prompts,
): Promise<Readonly<Record<string, string>> | undefined> {
  const given: string[] = [];
  while (given.length < questions.length) {
    const [next] = questions.slice(given.length);
    if (next === undefined) break;
    const answer = await answerTo(next, { prompts, isFirst: given.length === 0 });
    if (answer !== undefined) given.push(answer);
    else if (given.pop() === undefined) return undefined;
  }
  return Object.fromEntries(questions.map((asked, index) => [asked.question, given[index] ?? ""]));
}

async function answerTo(
  asked: Question,
  { prompts, isFirst }: { prompts: Prompts; isFirst: boolean },
): Promise<string | undefined> {
  const message = escapeHidden(asked.header === undefined ? asked.question : `${asked.question} (${asked.header})`);
  const options = (asked.options ?? []).map(({ label, description }) => ({
    value: label,
    label: escapeHidden(label),
    ...(description !== undefined && description !== "" && { hint: escapeHidden(description) }),
  }));
  if (options.length === 0)
    return prompts.line(message, { isFirst, ...(asked.optional !== true && { validate: notEmpty }) });
  const own = { value: OTHER, label: "Other…", hint: "in your own words" };
  const choices = asked.optional === undefined ? [...options, own] : options;
  for (;;) {
    const chosen =
      asked.multiSelect === true
        ? await prompts.chooseSeveral(message, choices, { isFirst })
        : await prompts.choose(message, choices, { isFirst }).then((one) => (one === undefined ? undefined : [one]));
    if (chosen === undefined) return undefined;
    const words = chosen.includes(OTHER) ? await prompts.line("Your answer:", { validate: notEmpty }) : "";
    if (words !== undefined)
      return [...chosen.filter((label) => label !== OTHER), ...(words === "" ? [] : [words])].join(", ");
  }
}

async function confirmAnswers(
  questions: readonly Question[],
  { answers, prompts }: { answers: Readonly<Record<string, string>>; prompts: Prompts },
): Promise<GivenAnswer | "again"> {
  const notes: Record<string, string> = {};
  for (;;) {
    const next = await prompts.choose("Send this answer?", [
      { value: "send", label: "Send" },
      { value: "note", label: "Add a note…" },
      { value: "again", label: "Answer again" },
      { value: "deny", label: "Decline to answer", hint: "tells the agent" },
      { value: "later", label: "Later", hint: "the session waits" },
    ]);
    if (next === "deny") return { behavior: "deny" };
    if (next === "later") return "later";
    if (next === "again" || next === undefined) return "again";
    if (next === "send")
      return { behavior: "allow", answers, ...(Object.keys(notes).length > 0 && { notes: { ...notes } }) };
    const about = await chooseQuestion(questions, prompts);
    const note = about && (await prompts.line("Your note:", { initial: notes[about] ?? "", validate: notEmpty }));
    if (about !== undefined && note !== undefined) notes[about] = note;
  }
}

async function chooseQuestion(questions: readonly Question[], prompts: Prompts): Promise<string | undefined> {
  if (questions.length < 2) return questions[0]?.question;
  return prompts.choose(
    "Add a note to which answer?",
    questions.map((asked) => ({ value: asked.question, label: escapeHidden(asked.question) })),
  );
}

/** The questions with their options, as text. */
export function questionLines(approval: Approval): string {
  const width = columns();
  if (approval.request.server !== undefined)
    return [
      ...serverLines(approval),
      ...questionsIn(approval).map(({ question: name, header = "" }) => `  - ${escapeHidden(`${name}: ${header}`)}`),
    ]
      .flatMap((line) => wrapText(line, width))
      .join("\n");
  return questionsIn(approval)
    .flatMap(({ question: text, options = [], multiSelect }) => [
      ...wrapText(escapeHidden(text), width).map((line) => color.bold(line)),
      ...options.flatMap(({ label, description }) =>
        wrapText(escapeHidden(description ? `${label}: ${description}` : label), width - 4).map((line, index) =>
          index === 0 ? `  - ${line}` : `    ${line}`,
        ),
      ),
      `  ${color.dim(multiSelect === true ? "choose one or more, or use your own words" : "choose one, or use your own words")}`,
    ])
    .join("\n");
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
