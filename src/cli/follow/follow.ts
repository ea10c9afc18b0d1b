import { limitText } from "../../core/session/session-limits.ts";
import type { EventType, LoggedEvent, Preview } from "../../core/events/events.ts";
import { inTurn } from "../../core/session/state.ts";
import { Turn, type TurnResult } from "../../runtime/turn/turn.ts";
import { isOpen, waitingText } from "../terminal/short-id.ts";
import type { Asking } from "../ask/ask.ts";
import { ChangedFiles } from "./changed-files.ts";
import type { Followed, FollowedHost } from "../target/followed-session.ts";
import { INTERRUPTED, type Stopping } from "../terminal/interrupt.ts";
import { noticeOf } from "./notices.ts";
import { RunView } from "./run-view.ts";
import { shortId } from "../terminal/text.ts";
import { hiddenFreeJson } from "../../words/hidden-text.ts";

export interface FollowOptions {
  readonly host: FollowedHost;
  readonly asking: Asking;
  readonly stopping: Stopping;
  readonly json: boolean;
  readonly rehearsal: boolean;
  /** Takes a line for each event and preview. */
  readonly trace?: (line: string) => void;
  /** Aborts when the command is to end. */
  readonly signal: AbortSignal;
}

/** Shows a turn until it is over or waits for somebody who is not here. Returns the exit code. */
export async function follow(session: Followed, turn: Turn, options: FollowOptions): Promise<number> {
  const { asking, stopping, json, rehearsal } = options;
  const view = json ? undefined : new RunView(process.stdout, { rehearsal });
  const changed = new ChangedFiles(options.host, session);
  asking.attach(view);
  let result: TurnResult;
  try {
    if (view !== undefined) await showOpenCalls(session, { view, host: options.host });
    result = await show(turn, { view, options, changed, session });
    // What was asked before this command was started, and goes on only with an answer.
    while (result.stopReason.type === "requires_action" && (await asking.askPending(session.id, options.signal))) {
      if (!(await goesOn(session))) break;
      result = await show(await underWay(session, options.host), { view, options, changed, session });
    }
  } catch (thrown) {
    await close(session, { view, changed });
    throw thrown;
  }
  if (view !== undefined && result.output !== undefined) process.stdout.write(`${hiddenFreeJson(result.output, 2)}\n`);
  await close(session, { view, changed });
  if (stopping.stopped) {
    process.stderr.write(`capstan: Interrupted. Go on with: capstan run --resume ${shortId(session.id)} "…"\n`);
    return INTERRUPTED;
  }
  if (result.stopReason.type === "requires_action") return waiting(session, options);
  return exitCode(result);
}

/** The last words of a turn, as long as somebody reads them. */
async function close(
  session: Followed,
  { view, changed }: { view: RunView | undefined; changed: ChangedFiles },
): Promise<void> {
  if (view === undefined || process.stdout.errored !== null) return;
  // A turn that waits is not over, and its files cannot be taken or undone yet. That they cannot be looked at is no
  // reason to fail now.
  const files = isWaiting(session) ? undefined : await changed.summary().catch(() => undefined);
  view.close(session.id, files);
}

/** Tells what the session waits for, and returns the exit code. */
export async function waiting(session: Followed, { host, rehearsal }: FollowOptions): Promise<number> {
  const pending = await host.approvals.list({ sessionId: session.id, status: "pending" });
  const text = waitingText(session.id, pending.filter(isOpen), { rehearsal });
  // Somebody may have answered just now, where this process no longer looks.
  process.stderr.write(
    `capstan: ${text || `Session ${shortId(session.id)} waits. Go on with: capstan run --resume ${shortId(session.id)}\n`}`,
  );
  return 5;
}

/** Whether the session is in a turn that waits for a person. */
export function isWaiting({ state }: Followed): boolean {
  return state.status === "idle" && inTurn(state);
}

/** Whether the turn that waited goes on, now that somebody has answered. */
export async function goesOn(session: Followed): Promise<boolean> {
  return session.goesOn === undefined ? isMoving(session) : session.goesOn();
}

/** Whether it is in a turn that needs nobody here: it runs, or is to go on by itself. */
export function isMoving({ state }: Followed): boolean {
  return state.status !== "idle" && inTurn(state);
}

/** The turn that a session is in since before anybody looked, from where it last began to run. */
export async function underWay(session: Followed, host: FollowedHost): Promise<Turn> {
  const started = (await host.read(session.id)).findLast(({ type }) => type === "session.status_running");
  const after = (started?.seq ?? 1) - 1;
  let end: number | undefined;
  return new Turn(async function* () {
    for await (const item of session.events({ after })) {
      yield item;
      if (item.type !== "session.status_idle" || !("seq" in item)) continue;
      // A message that waited is a turn of its own, right after the one that was cut off.
      if (end === undefined && session.state.status === "idle") end = item.seq;
      if (end !== undefined && item.seq >= end) return;
    }
  });
}

const CALLS: readonly EventType[] = ["agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use"];

/** Calls that were made before, so that their outcomes can be told with what they were. */
async function showOpenCalls(session: Followed, { view, host }: { view: RunView; host: FollowedHost }): Promise<void> {
  const open = session.state.openCalls;
  if (Object.keys(open).length === 0) return;
  for (const event of await host.read(session.id))
    if (CALLS.includes(event.type) && "call_id" in event && (event.call_id ?? "") in open) view.show(event);
}

/** How many events are read at a time when looking back for the end of the turn before. */
const LOOK_BACK = 50;

/** What happened since the turn before: the session was created, a process was started ahead of time, files were rewound. */
async function eventsBefore(
  { seq }: LoggedEvent,
  { session, host }: { session: Followed; host: FollowedHost },
): Promise<readonly LoggedEvent[]> {
  const found: LoggedEvent[] = [];
  for (let upTo = seq - 1; upTo > 0; upTo -= LOOK_BACK) {
    const events = await host.read(session.id, { after: Math.max(0, upTo - LOOK_BACK), upTo });
    const end = events.findLastIndex(({ type }) => type === "session.status_idle");
    found.unshift(...events.slice(end + 1));
    if (end !== -1) break;
  }
  return found;
}

/** A host of this process has said on standard error what of the project's files has no effect. */
function isToldAlready({ type }: LoggedEvent, { isRemote }: FollowedHost): boolean {
  return type === "capstan.settings_withheld" && isRemote !== true;
}

async function show(
  turn: Turn,
  {
    view,
    options,
    changed,
    session,
  }: { view: RunView | undefined; options: FollowOptions; changed: ChangedFiles; session: Followed },
): Promise<TurnResult> {
  const print = (event: LoggedEvent): boolean =>
    process.stdout.write(`${hiddenFreeJson({ session_id: session.id, ...event })}\n`);
  let isFirst = true;
  for await (const item of turn) {
    options.trace?.(JSON.stringify({ at: Date.now(), ...item }));
    changed.see(item);
    if (isFirst && isEvent(item)) {
      isFirst = false;
      for (const event of await eventsBefore(item, { session, host: options.host }))
        if (view === undefined) print(event);
        else if (noticeOf(event) !== undefined && !isToldAlready(event, options.host)) view.show(event);
    }
    if (process.stdout.errored === null) {
      if (view !== undefined) view.show(item);
      else if (isEvent(item)) print(item);
    }
    if (item.type === "capstan.approval_requested") options.asking.seen(item.approval_id);
  }
  return turn.result();
}

function exitCode({ stopReason, limit }: TurnResult): number {
  switch (stopReason.type) {
    case "end_turn":
      return 0;
    case "requires_action":
      return 5;
    case "refusal":
      process.stderr.write("capstan: The model refused. Say it in another way, or ask for something else.\n");
      return 1;
    case "budget_reached":
      process.stderr.write(
        `capstan: ${limit === undefined ? "A limit is reached. Raise it to go on." : limitText(limit)}\n`,
      );
      return 4;
    case "retries_exhausted":
      return 1;
  }
}

function isEvent(item: LoggedEvent | Preview): item is LoggedEvent {
  return "seq" in item;
}
