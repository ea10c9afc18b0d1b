import { limitText } from "../../core/session/session-limits.ts";
import type { EventType, LoggedEvent, Preview } from "../../core/events/events.ts";
import { inTurn } from "../../core/session/state.ts";
import { Turn, type TurnResult } from "../../runtime/turn/turn.ts";
import { isOpen, waitingText } from "../terminal/short-id.ts";
import type { Asking } from "../ask/ask.ts";
import { ChangedFiles } from "./changed-files.ts";
import type { Followed, FollowedHost } from "../target/followed-session.ts";
import { EXIT_INTERRUPTED, type Stopping } from "../terminal/interrupt.ts";
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
  /** Receives a line for each event and preview. */
  readonly trace?: (line: string) => void;
  /** Aborts when the command should end. */
  readonly signal: AbortSignal;
}

/** Continues to show the turn that is already running. Returns the exit code. */
export async function followCurrent(session: Followed, options: FollowOptions): Promise<number> {
  return follow(session, await currentTurn(session, options.host), options, { isResumed: true });
}

/** Shows a turn until it ends, or waits for an answer that nobody here gives. Returns the exit code. */
export async function follow(
  session: Followed,
  turn: Turn,
  options: FollowOptions,
  { isResumed = false } = {},
): Promise<number> {
  const { asking, stopping, json, rehearsal } = options;
  const view = json ? undefined : new RunView(process.stdout, { rehearsal });
  const changed = new ChangedFiles(options.host, session);
  asking.attach(view);
  let result: TurnResult;
  try {
    if (view !== undefined) await showOpenCalls(session, { view, host: options.host, isResumed });
    result = await show(turn, { view, options, changed, session });
    // Questions from before this command started; the turn continues only with an answer.
    while (result.stopReason.type === "requires_action" && (await asking.askPending(session.id, options.signal))) {
      if (!(await continues(session))) break;
      result = await show(await currentTurn(session, options.host), { view, options, changed, session });
    }
  } catch (thrown) {
    await close(session, { view, changed });
    throw thrown;
  }
  if (view !== undefined && result.output !== undefined) process.stdout.write(`${hiddenFreeJson(result.output, 2)}\n`);
  await close(session, { view, changed });
  if (stopping.stopped) {
    process.stderr.write(`capstan: Interrupted. Continue with: capstan run --resume ${shortId(session.id)} "…"\n`);
    return EXIT_INTERRUPTED;
  }
  if (result.stopReason.type === "requires_action") return reportWaiting(session, options);
  return exitCode(result);
}

/** Prints the end of the output, unless standard output is closed. */
async function close(
  session: Followed,
  { view, changed }: { view: RunView | undefined; changed: ChangedFiles },
): Promise<void> {
  if (view === undefined || process.stdout.errored !== null) return;
  // A waiting turn is not over, so its files cannot be applied or rewound yet. A failing summary must not fail the run.
  const files = isWaiting(session) ? undefined : await changed.summary().catch(() => undefined);
  view.close(session.id, files);
}

/** Prints what the session waits for, and returns the exit code. */
export async function reportWaiting(session: Followed, { host, rehearsal }: FollowOptions): Promise<number> {
  const pending = await host.approvals.list({ sessionId: session.id, status: "pending" });
  const text = waitingText(session.id, pending.filter(isOpen), { rehearsal });
  // Empty if someone answered just now.
  process.stderr.write(
    `capstan: ${text || `Session ${shortId(session.id)} is waiting. Continue with: capstan run --resume ${shortId(session.id)}\n`}`,
  );
  return 5;
}

/** Whether the session is in a turn that waits for a person. */
export function isWaiting({ state }: Followed): boolean {
  return state.status === "idle" && inTurn(state);
}

/** Whether the turn continues after an answer. */
export async function continues(session: Followed): Promise<boolean> {
  return session.continues === undefined ? isMoving(session) : session.continues();
}

/** Whether the session is in a turn that runs, or will continue, without an answer. */
export function isMoving({ state }: Followed): boolean {
  return state.status !== "idle" && inTurn(state);
}

/** The turn that is already running, from where it last started. */
async function currentTurn(session: Followed, host: FollowedHost): Promise<Turn> {
  const started = (await host.read(session.id)).findLast(({ type }) => type === "session.status_running");
  const after = (started?.seq ?? 1) - 1;
  let end: number | undefined;
  return new Turn(async function* () {
    for await (const item of session.events({ after })) {
      yield item;
      if (item.type !== "session.status_idle" || !("seq" in item)) continue;
      // A queued message becomes its own turn right after the interrupted one.
      if (end === undefined && session.state.status === "idle") end = item.seq;
      if (end !== undefined && item.seq >= end) return;
    }
  });
}

const CALLS: readonly EventType[] = ["agent.tool_use", "agent.mcp_tool_use", "agent.custom_tool_use"];

/**
 * Passes earlier calls to the view, so that it can show their results with their inputs. In a resumed turn these are the
 * calls that were open when it continued: by now they may be over.
 */
async function showOpenCalls(
  session: Followed,
  { view, host, isResumed }: { view: RunView; host: FollowedHost; isResumed: boolean },
): Promise<void> {
  const open = session.state.openCalls;
  if (Object.keys(open).length === 0 && !isResumed) return;
  const events = await host.read(session.id);
  const earlier = isResumed ? events.findLastIndex(({ type }) => type === "session.status_running") : 0;
  const done = new Set(
    events
      .slice(0, Math.max(0, earlier))
      .flatMap((event) =>
        !CALLS.includes(event.type) && "call_id" in event && "outcome" in event ? [event.call_id] : [],
      ),
  );
  for (const [at, event] of events.entries())
    if (CALLS.includes(event.type) && "call_id" in event) {
      const id = event.call_id ?? "";
      if (id in open || (at < earlier && !done.has(id))) view.show(event);
    }
}

/** How many events to read at a time when searching for the end of the previous turn. */
const LOOK_BACK = 50;

/** Events since the previous turn: session created, process started ahead of time, files rewound. */
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

/** A local host has already reported withheld settings on standard error. */
function isAlreadyReported({ type }: LoggedEvent, { isRemote }: FollowedHost): boolean {
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
        else if (noticeOf(event) !== undefined && !isAlreadyReported(event, options.host)) view.show(event);
    }
    if (process.stdout.errored === null) {
      if (view !== undefined) view.show(item);
      else if (isEvent(item)) print(item);
    }
    if (item.type === "capstan.approval_requested") options.asking.markSeen(item.approval_id);
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
      process.stderr.write("capstan: The model refused the request. Rephrase it, or ask for something else.\n");
      return 1;
    case "budget_reached":
      process.stderr.write(
        `capstan: ${limit === undefined ? "Limit reached. Raise it to continue." : limitText(limit)}\n`,
      );
      return 4;
    case "retries_exhausted":
      return 1;
  }
}

function isEvent(item: LoggedEvent | Preview): item is LoggedEvent {
  return "seq" in item;
}
