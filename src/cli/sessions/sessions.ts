import { DEFAULT_ENGINE } from "../../core/agent/engine-name.ts";
import type { LoggedEvent } from "../../core/events/events.ts";
import { withoutSecrets } from "../../core/session/redaction-session.ts";
import type { SessionRecord, SessionSummary } from "../../core/ports/store.ts";
import { costText } from "../follow/cost.ts";
import { usageError } from "../terminal/failure.ts";
import { isOpen, waitingText } from "../terminal/short-id.ts";
import { projectOf } from "../target/home.ts";
import { EXIT_INTERRUPTED, interruptOnSignal } from "../terminal/interrupt.ts";
import { openRecords } from "../target/records.ts";
import { resolveSession } from "../target/session-id.ts";
import { ago, shortId, table } from "../terminal/text.ts";
import { escapeHidden, hiddenFreeJson } from "../../words/hidden-text.ts";

export interface ListSessionsFlags {
  readonly limit: string;
  readonly project?: string;
  readonly status?: SessionSummary["status"];
  readonly agent?: string;
  readonly json?: boolean;
}

export async function listSessions(search: string | undefined, flags: ListSessionsFlags): Promise<void> {
  const limit = Number(flags.limit);
  if (!Number.isInteger(limit) || limit < 1)
    throw usageError(`--limit must be a whole number above zero, not ${flags.limit}.`);
  await using records = await openRecords();
  const { status, agent } = flags;
  const project = flags.project === undefined ? undefined : projectOf(flags.project);
  const sessions = await records.sessions({ limit, project, status, agent, search });
  const waiting = (await records.approvals({ status: "pending" })).filter(isOpen);
  const waitingIn = (id: string): number => waiting.filter(({ sessionId }) => sessionId === id).length;
  if (flags.json === true)
    return sessions.forEach((session) =>
      print(hiddenFreeJson({ ...withoutSecrets(session), engine: engineOf(session), waiting: waitingIn(session.id) })),
    );
  if (sessions.length === 0) return print('No sessions found. Start one: capstan run "…"');
  // Columns with the same value for every session are left out, to save room.
  const hasOwnFiles = sessions.some(({ environment }) => environment.workspace.kind !== "in-place");
  const hasEngines = new Set(sessions.map(engineOf)).size > 1;
  const rows = sessions.map((session) => [
    shortId(session.id),
    // The log says idle while a session waits for an answer.
    waitingIn(session.id) > 0 ? "waiting" : session.status,
    ago(Date.now() - session.lastActivityAt),
    costText(session),
    session.agent.name,
    ...(hasEngines ? [engineOf(session)] : []),
    ...(hasOwnFiles ? [session.environment.workspace.kind] : []),
    session.title ?? session.firstMessage,
  ]);
  const columns = [...(hasEngines ? ["ENGINE"] : []), ...(hasOwnFiles ? ["WORKSPACE"] : [])];
  print(table(["SESSION", "STATUS", "ACTIVE", "COST", "AGENT", ...columns, "ABOUT"], rows));
}

export interface ShowFlags {
  readonly follow?: boolean;
  readonly stderr?: boolean;
  readonly output?: string;
  readonly json?: boolean;
}

/** Returns the exit code. */
export async function showSession(given: string, flags: ShowFlags): Promise<number> {
  const { RunView } = await import("../follow/run-view.ts");
  await using records = await openRecords();
  const id = await resolveSession(records, given);
  if (flags.output !== undefined) {
    if (flags.follow === true || flags.stderr === true || flags.json === true)
      throw usageError(
        "--output prints the output of one call and cannot be combined with --follow, --stderr or --json.",
      );
    const output = Buffer.from(await records.output(id, flags.output));
    // Unchanged for programs; on a terminal, control characters are escaped.
    process.stdout.write(process.stdout.isTTY ? escapeHidden(output.toString("utf8")) : output);
    return 0;
  }
  const record = await records.session(id);
  const view = new RunView(process.stdout, { users: true });
  const leaving = new AbortController();
  using stopping = interruptOnSignal(async () => leaving.abort());
  let seq = 0;
  if (flags.json !== true && flags.stderr !== true)
    print(
      escapeHidden(
        `${id}\nagent ${record?.agent.name ?? "?"} · engine ${record ? engineOf(record) : "?"} · ${record ? directoryText(record) : "?"} · project ${record?.project ?? "?"}\n`,
      ),
    );
  const showEvent = (event: LoggedEvent): void => {
    seq = event.seq;
    if (flags.json === true) print(hiddenFreeJson(event));
    else if (flags.stderr !== true) view.show(event);
    else if (event.type === "capstan.process_lost")
      print(escapeHidden(`${event.processed_at}  ${event.reason}\n${event.stderr}`.trim()));
  };
  for (const event of await records.read(id)) showEvent(event);
  if (flags.follow === true)
    for await (const event of records.follow(id, { after: seq, signal: leaving.signal })) showEvent(event);
  if (flags.json !== true && flags.stderr !== true) {
    view.close(id);
    const waiting = (await records.approvals({ sessionId: id, status: "pending" })).filter(isOpen);
    if (waiting.length > 0) print(`\n${waitingText(id, waiting).trimEnd()}`);
  }
  return stopping.signaled ? EXIT_INTERRUPTED : 0;
}

/** The directory that it was started in. */
function directoryText({ environment: { workspace }, source }: SessionRecord): string {
  return workspace.kind === "in-place" ? source : `${workspace.kind} of ${source}`;
}

/** The engine of the next turn. */
function engineOf({ agent }: SessionRecord): string {
  return agent.engine ?? DEFAULT_ENGINE;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
