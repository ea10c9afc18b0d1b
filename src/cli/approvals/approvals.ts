import { parseDuration } from "../../core/text/duration.ts";
import type { Approval, ApprovalQuery } from "../../core/session/approval.ts";
import { APPROVAL, howToAnswer, isOpen, resolveId, statusText } from "../terminal/short-id.ts";
import { approvalBlock } from "../ask/ask-block.ts";
import { projectOf } from "../target/home.ts";
import { EXIT_INTERRUPTED, interruptOnSignal } from "../terminal/interrupt.ts";
import { openRecords, type Records } from "../target/records.ts";
import { resolveSession } from "../target/session-id.ts";
import { ago, color, columns, oneLine, shortId, table } from "../terminal/text.ts";
import { escapeHidden, hiddenFreeJson } from "../../words/hidden-text.ts";

export interface ListApprovalsFlags {
  readonly all?: boolean;
  readonly session?: string;
  readonly project?: string;
  readonly json?: boolean;
}

export async function listApprovals(flags: ListApprovalsFlags): Promise<void> {
  await using records = await openRecords();
  const approvals = await find(records, flags);
  if (approvals.length === 0 && flags.json !== true)
    return print(flags.all === true ? "No approvals yet." : "No pending approvals.");
  printList(approvals, flags);
}

async function find(records: Records, flags: ListApprovalsFlags): Promise<readonly Approval[]> {
  const query = await queryOf(records, flags);
  if (flags.all === true) return records.approvals(query);
  return (await records.approvals({ ...query, status: "pending" })).filter(isOpen);
}

async function queryOf(records: Records, { session, project }: ListApprovalsFlags): Promise<ApprovalQuery> {
  const sessionId = session === undefined ? undefined : await resolveSession(records, session);
  const place = project === undefined ? undefined : projectOf(project);
  return { ...(sessionId !== undefined && { sessionId }), ...(place !== undefined && { project: place }) };
}

function printList(approvals: readonly Approval[], { json }: { readonly json?: boolean }): void {
  if (json === true) return approvals.forEach((approval) => print(hiddenFreeJson(approval)));
  const rows = approvals.map((approval) => [
    shortId(approval.id),
    shortId(approval.sessionId),
    statusText(approval),
    ago(Date.now() - approval.createdAt),
    approval.agent,
    approval.request.title,
  ]);
  print(table(["APPROVAL", "SESSION", "STATUS", "ASKED", "AGENT", "ABOUT"], rows));
  const [open, ...others] = approvals.filter(isOpen);
  if (open !== undefined)
    print(
      `\n${others.length === 0 ? "Answer it" : "Answer the first"} with: ${howToAnswer(open)}\nSee what would run: capstan approvals show ${shortId(open.id)}`,
    );
}

export async function showApproval(given: string, flags: { readonly json?: boolean }): Promise<void> {
  await using records = await openRecords();
  const approval = resolveId(await records.approvals(), given, APPROVAL);
  if (flags.json === true) return print(hiddenFreeJson(approval));
  const { request, expiresAt, createdAt, sessionId } = approval;
  print(`${approval.id}\n`);
  print(approvalBlock(approval, { width: columns() }).text);
  if (request.kind === "question") {
    const { questionLines } = await import("../ask/ask-questions.ts");
    print(`\n${questionLines(approval)}`);
  }
  const rows: [string, string][] = [
    ["kind", request.kind],
    ["session", `${shortId(sessionId)} of ${approval.agent}, project ${approval.project}`],
    ["thread", request.session_thread_id ?? "primary thread"],
    ["asked", at(createdAt)],
    ["expires", expiresAt === null ? "never" : at(expiresAt)],
    ["status", statusText(approval)],
    ...ruleRows(approval),
    ...answerRows(approval),
  ];
  print(`\n${rows.map(([name, text]) => `  ${color.dim(name.padEnd(13))}${text}`).join("\n")}`);
  if (isOpen(approval)) print(`\nAllow it: ${howToAnswer(approval)}\nDeny it:  ${denial(approval)}`);
}

function denial({ id }: Approval): string {
  return `capstan approvals answer ${shortId(id)} deny --message "…"`;
}

function ruleRows({ request }: Approval): [string, string][] {
  if (request.kind !== "tool") return [];
  if (request.remember.length === 0) return [["remember", "cannot be remembered; only --scope once"]];
  return request.remember.map((rule, index) => [index === 0 ? "remember" : "", escapeHidden(rule)]);
}

function answerRows({ answer }: Approval): [string, string][] {
  if (answer === null) return [];
  const { by, from, message, scope = "once", rules = [], answers = {}, notes = {}, result } = answer;
  return [
    ["answered", `${answer.behavior} by ${escapeHidden(by)} from ${from}, ${at(answer.at)}, scope ${scope}`],
    ...rules.map((rule): [string, string] => ["rule", escapeHidden(rule)]),
    ...(message === undefined ? [] : [["message", escapeHidden(message)] as [string, string]]),
    ...(result?.content ?? []).map((block): [string, string] => [
      "result",
      block.type === "text" ? escapeHidden(oneLine(block.text, RESULT_WIDTH)) : `[${block.type}]`,
    ]),
    ...Object.entries(answers).map(([question, text]): [string, string] => [
      "answer",
      escapeHidden(`${question} ${text}`),
    ]),
    ...Object.entries(notes).map(([question, text]): [string, string] => ["note", escapeHidden(`${question} ${text}`)]),
  ];
}

/** In characters. */
const RESULT_WIDTH = 200;

function at(ms: number): string {
  return `${new Date(ms).toISOString()} (${ms > Date.now() ? "in the future" : ago(Date.now() - ms)})`;
}

/** The exit code for every limit. */
const TIMED_OUT = 4;

/** Waits for a pending approval. Returns the exit code. */
export async function wait(flags: ListApprovalsFlags & { readonly timeout?: string }): Promise<number> {
  const until = flags.timeout === undefined ? Infinity : Date.now() + parseDuration(flags.timeout);
  const leaving = new AbortController();
  using stopping = interruptOnSignal(async () => leaving.abort());
  await using records = await openRecords();
  const approvals = await records.awaitApprovals(await queryOf(records, flags), { until, signal: leaving.signal });
  if (stopping.stopped) return EXIT_INTERRUPTED;
  if (approvals.length === 0) {
    process.stderr.write(
      `capstan: No approval was requested within ${flags.timeout ?? ""}. To wait longer, increase --timeout.\n`,
    );
    return TIMED_OUT;
  }
  printList(approvals, flags);
  return 0;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
