import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { createTwoFilesPatch } from "diff";
import type { CallRequest } from "../../core/ports/engine.ts";
import type { EventDraft } from "../../core/events/events.ts";
import type { PermissionVerdict } from "../../core/permission/decide.ts";
import type { CallSubject } from "../../core/rules/subject.ts";
import { suggestRules } from "../../core/permission/suggest.ts";
import { textOf } from "../../core/text/text.ts";
import type { OpenCall } from "../../core/session/state.ts";
import { questionsOf } from "../approvals/answers.ts";
import type { SessionBasics } from "../session-deps.ts";

/** In characters; a longer diff helps nobody to decide, and would bloat the log. */
const MAX_DIFF = 200_000;
const MAX_TITLE = 200;
/** In bytes. A larger file, or anything that is not a file, is not read: it could block the host. */
const MAX_FILE = 5_000_000;
/** In lines added or removed. Comparing more would block the host for seconds. */
const MAX_EDITS = 3_000;

interface AskedCall {
  readonly call: CallRequest;
  readonly open: OpenCall;
  readonly verdict: PermissionVerdict;
  readonly subject: CallSubject;
}

/** Describes a call to the person who is asked: what would happen, the change for an edit, the programs for a command. */
export async function describeCall(
  { call, open, verdict, subject }: AskedCall,
  { record, log, ids, clock }: SessionBasics,
): Promise<EventDraft<"capstan.approval_requested">> {
  const { kind } = verdict;
  const agent = open.threadId === null ? undefined : log.state.threads[open.threadId]?.agentName;
  const diff = kind === "tool" ? await diffOf(call, record.cwd) : undefined;
  const { approvals_expire_ms: lifetime } = record.agent.permissions;
  return {
    type: "capstan.approval_requested",
    ...(open.threadId !== null && { session_thread_id: open.threadId }),
    approval_id: ids.next("appr"),
    kind,
    call_id: call.callId,
    tool_use_id: open.eventId,
    tool: call.tool,
    input: kind === "plan" ? await planOf(open, { log }) : { ...call.input },
    ...(call.directory !== undefined && { directory: call.directory }),
    title: titleOf(call),
    ...(diff !== undefined && { diff }),
    ...(subject.shell !== undefined && { commands: commandsOf(subject.shell) }),
    ...(agent !== undefined && { agent }),
    asked_by: verdict.decidedBy,
    reason: verdict.reason,
    traits: call.traits,
    remember: kind === "tool" && verdict.rememberable ? [...suggestRules(subject)] : [],
    expires_at: lifetime === undefined ? null : new Date(clock.now() + lifetime).toISOString(),
  };
}

/** The engine asks about a plan without including it: it is in the call, or in the agent's last message. */
async function planOf(open: OpenCall, { log }: Pick<SessionBasics, "log">) {
  const events = (await log.events()).map(({ event }) => event);
  const call = events.findLast((event) => event.id === open.eventId);
  const said = events.findLast((event) => event.type === "agent.message" && event.session_thread_id == null);
  const given = call?.type === "agent.tool_use" ? call.input["plan"] : undefined;
  return { plan: typeof given === "string" ? given : said?.type === "agent.message" ? textOf(said.content) : "" };
}

function commandsOf({ commands }: NonNullable<CallSubject["shell"]>): string[] {
  return commands.map(({ words, assignments }) => [...assignments, ...words.map(({ text }) => text)].join(" "));
}

/** One line that says what would happen, from the tool's own input. */
function titleOf({ tool, input }: CallRequest): string {
  const subject =
    ["command", "file_path", "notebook_path", "url", "pattern", "path", "query", "description"]
      .map((field) => input[field])
      .find((value) => typeof value === "string") ?? questionsOf(input)[0];
  const said = subject === undefined ? JSON.stringify(input) : subject;
  const verb: Readonly<Record<string, string>> = {
    Bash: "Run",
    Write: "Write",
    Edit: "Edit",
    NotebookEdit: "Edit",
    Read: "Read",
    WebFetch: "Fetch",
    WebSearch: "Search the web for",
    AskUserQuestion: "",
    ExitPlanMode: "Leave plan mode and carry out the plan",
  };
  const text = tool === "ExitPlanMode" ? (verb[tool] ?? "") : `${verb[tool] ?? tool} ${said}`;
  const line = text.replaceAll(/[\s\p{Cc}]+/gu, " ").trim();
  return line.length > MAX_TITLE ? `${line.slice(0, MAX_TITLE - 1)}…` : line;
}

/** The change that a call would make to a file as it is now. */
async function diffOf({ tool, input }: CallRequest, cwd: string): Promise<string | undefined> {
  const path = input["file_path"];
  if ((tool !== "Write" && tool !== "Edit") || typeof path !== "string") return undefined;
  const found = await stat(resolve(cwd, path)).catch(() => undefined);
  if (found !== undefined && (!found.isFile() || found.size > MAX_FILE)) return undefined;
  const before = await readFile(resolve(cwd, path), "utf8").catch(() => undefined);
  const after = tool === "Write" ? textIn(input["content"]) : applyEdit(before ?? "", input);
  const from = before === undefined ? "/dev/null" : path;
  const patch = createTwoFilesPatch(from, path, before ?? "", after, "", "", { context: 3, maxEditLength: MAX_EDITS });
  const body = patch === undefined ? replacement({ from, path, before, after }) : patch.replace(/^=+\n/, "");
  return body.length > MAX_DIFF ? `${body.slice(0, MAX_DIFF)}\n… (cut: the whole change is in the input)` : body;
}

/** A change that is too long to compare line by line: all old lines are removed, all new lines added. */
function replacement({ from, path, before = "", after }: Replaced): string {
  const gone = before === "" ? [] : before.replace(/\n$/, "").split("\n");
  const come = after === "" ? [] : after.replace(/\n$/, "").split("\n");
  // The new text comes first, so that it is visible when the diff is cut.
  const lines = [...come.map((line) => `+${line}`), ...gone.map((line) => `-${line}`)];
  return [`--- ${from}`, `+++ ${path}`, `@@ -1,${gone.length} +1,${come.length} @@`, ...lines, ""].join("\n");
}

interface Replaced {
  readonly from: string;
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string;
}

function applyEdit(before: string, input: CallRequest["input"]): string {
  const from = textIn(input["old_string"]);
  const to = textIn(input["new_string"]);
  if (from === "") return to;
  return input["replace_all"] === true ? before.split(from).join(to) : before.replace(from, () => to);
}

function textIn(value: unknown): string {
  return typeof value === "string" ? value : "";
}
