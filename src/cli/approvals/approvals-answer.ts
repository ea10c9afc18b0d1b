import { readFileSync } from "node:fs";
import { loadConfiguration } from "../../config/load.ts";
import type { Approval, ApprovalAnswer, GrantScope } from "../../core/session/approval.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import type { SessionRecord } from "../../core/ports/store.ts";
import { APPROVAL, resolveId } from "../terminal/short-id.ts";
import { readInput } from "../ask/ask-edit.ts";
import { questionsIn } from "../ask/ask-questions.ts";
import { ruleProblem } from "../ask/ask-tool.ts";
import { usageError } from "../terminal/failure.ts";
import { type Answered, openRecords } from "../target/records.ts";
import { refuseOnServer } from "../target/server.ts";
import { oneLine, shortId } from "../terminal/text.ts";
import { requirePerson } from "../terminal/person.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";

export interface AnswerFlags {
  readonly scope?: GrantScope;
  readonly rule?: readonly string[];
  readonly message?: string;
  readonly input?: string;
  readonly result?: string;
  readonly answer?: readonly string[];
  readonly note?: readonly string[];
  readonly as?: string;
  readonly resume: boolean;
  readonly rehearsal?: boolean;
  readonly json?: boolean;
}

/** Answers, and continues the session if no process runs it. Returns the exit code. */
export async function answer(given: string, behavior: "allow" | "deny", flags: AnswerFlags): Promise<number> {
  await requirePerson("capstan approvals answer", "answer approvals");
  const { approval, record, driver } = await saveAnswer(given, behavior, flags);
  const { sessionId, request } = approval;
  const say = (text: string): void => {
    if (flags.json !== true) process.stdout.write(`${text}\n`);
  };
  if (flags.json === true) process.stdout.write(`${hiddenFreeJson(approval)}\n`);
  const done = behavior === "deny" ? "Denied" : request.kind === "custom_tool" ? "Answered" : "Allowed";
  say(`${done}: ${oneLine(request.title, 66)}`);
  if (driver !== undefined) {
    say(`Session ${shortId(sessionId)} continues in the process that runs it (${driver}).`);
    return 0;
  }
  if (!flags.resume) {
    say(`Continue with: capstan run --resume ${shortId(sessionId)}`);
    return 0;
  }
  try {
    return await continueSession(record, flags);
  } catch (thrown) {
    if (thrown instanceof CapstanError && thrown.code === "session_busy") {
      say(`Session ${shortId(sessionId)} continues in another process.`);
      return 0;
    }
    if (!(thrown instanceof CapstanError)) throw thrown;
    const { data, retryable } = thrown;
    const next = `The answer is saved. Continue with: capstan run --resume ${shortId(sessionId)}`;
    throw new CapstanError(thrown.code, `${thrown.message} ${next}`, { data, retryable, cause: thrown });
  }
}

/** Needs no host and no credential, so the answer is saved even if the session cannot continue. */
async function saveAnswer(given: string, behavior: "allow" | "deny", flags: AnswerFlags): Promise<Answered> {
  if (flags.rehearsal === true) refuseOnServer("--rehearsal", "The server chooses the model. Omit --rehearsal.");
  if (flags.as?.trim() === "") throw usageError("--as is empty. Enter a name.");
  await using records = await openRecords();
  const asked = resolveId(await records.approvals(), given, APPROVAL);
  // A closed approval is reported before any problem with the new answer.
  const wanted = asked.status === "pending" ? answerFrom(asked, behavior, flags) : { behavior };
  return await records.answer(asked.id, wanted, flags.as);
}

function answerFrom(approval: Approval, behavior: "allow" | "deny", flags: AnswerFlags): ApprovalAnswer {
  const { scope, rule, message, input } = flags;
  if (behavior === "allow" && message !== undefined)
    throw usageError("--message is the reason for a denial. Omit it, or answer deny.");
  if (behavior === "deny" && input !== undefined)
    throw usageError("--input changes what runs. Omit it, or answer allow.");
  for (const text of rule ?? []) {
    const wrong = ruleProblem(text);
    if (wrong !== undefined) throw usageError(`--rule ${text} cannot be remembered: ${wrong}`);
  }
  return {
    behavior,
    ...(message !== undefined && { message }),
    ...(scope !== undefined && { scope }),
    ...(rule !== undefined && { rules: rule }),
    ...(input !== undefined && { input: inputFrom(input) }),
    ...resultFrom(approval, behavior, flags),
    ...answersFrom(approval, behavior, flags),
  };
}

function resultFrom(
  { id, request }: Approval,
  behavior: "allow" | "deny",
  { result, message }: AnswerFlags,
): Pick<ApprovalAnswer, "result"> {
  if (request.kind !== "custom_tool") {
    if (result === undefined) return {};
    throw usageError(
      `--result is for custom tools, but approval ${shortId(id)} is about a ${request.kind}. Omit --result.`,
    );
  }
  if (behavior === "deny") {
    if (result !== undefined) throw usageError("--result is the result of the tool. Omit it, or answer allow.");
    if (message === undefined)
      throw usageError(`Denying ${request.tool} needs a reason for the agent. Add --message "…".`);
    return {};
  }
  if (result === undefined)
    throw usageError(
      `${request.tool} runs in a client, so Capstan does not know its result. Add --result "…", or answer deny.`,
    );
  const text = result.startsWith("@") ? fileText(result.slice(1), "--result") : result;
  return { result: { content: [{ type: "text", text }], isError: false } };
}

function inputFrom(given: string): Readonly<Record<string, unknown>> {
  const read = readInput(given.startsWith("@") ? fileText(given.slice(1), "--input") : given);
  if (typeof read !== "string") return read;
  throw usageError(`--input: ${read} Use a JSON object with the tool's input, or @file.`);
}

function fileText(file: string, flag: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (thrown) {
    throw usageError(`${flag}: cannot read ${file}: ${messageOf(thrown)}.`);
  }
}

function answersFrom(
  approval: Approval,
  behavior: "allow" | "deny",
  flags: AnswerFlags,
): Pick<ApprovalAnswer, "answers" | "notes"> {
  if (approval.request.kind !== "question") {
    if (flags.answer === undefined && flags.note === undefined) return {};
    throw usageError(
      `--answer and --note are for questions, but approval ${shortId(approval.id)} is about a ${approval.request.kind}. Omit them.`,
    );
  }
  if (behavior === "deny") return {};
  const answers = byQuestion(approval, flags.answer ?? [], "--answer");
  const missing = questionsIn(approval).filter(({ question, optional }) => optional !== true && !(question in answers));
  if (missing.length > 0)
    throw usageError(
      `Missing answer to: ${missing.map(({ question }) => question).join(" / ")} Add --answer "QUESTION=ANSWER"; QUESTION may be its number.`,
    );
  return { answers, ...(flags.note !== undefined && { notes: byQuestion(approval, flags.note, "--note") }) };
}

/** A question is identified by its text, header or number. Several answers to one question are joined. */
function byQuestion(approval: Approval, given: readonly string[], flag: string): Record<string, string> {
  const asked = questionsIn(approval);
  const texts: Record<string, string> = {};
  for (const entry of given) {
    const named = asked
      .flatMap(({ question, header }, index) =>
        [question, header, String(index + 1)].flatMap((name) => (name === undefined ? [] : [{ question, name }])),
      )
      // The question itself may contain an equals sign.
      .find(({ name }) => entry.startsWith(`${name}=`));
    const only = asked.length === 1 && !entry.includes("=") ? asked[0] : undefined;
    const question = named?.question ?? only?.question;
    const text = named === undefined ? entry : entry.slice(named.name.length + 1);
    if (question === undefined)
      throw usageError(
        `${flag} "${entry}" matches none of the agent's questions: ${asked.map((one, index) => `${index + 1}. ${one.question}`).join(" / ")}`,
      );
    if (text.trim() === "")
      throw usageError(`${flag} "${entry}" has no text after the question. Write it as QUESTION=TEXT.`);
    texts[question] = texts[question] === undefined ? text : `${texts[question]}, ${text}`;
  }
  return texts;
}

async function continueSession(record: SessionRecord, flags: AnswerFlags): Promise<number> {
  const [{ resume }, configuration] = await Promise.all([
    import("../run/resume.ts"),
    loadConfiguration({ cwd: record.cwd, environment: process.env, flags: {} }),
  ]);
  return resume(record.id, { configuration, flags });
}
