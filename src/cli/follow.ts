import { limitText } from "../core/budget.ts";
import type { LoggedEvent, Preview } from "../core/events.ts";
import { inTurn } from "../core/state.ts";
import type { Runtime } from "../runtime/runtime.ts";
import type { Session } from "../runtime/session.ts";
import { Turn, type TurnResult } from "../runtime/turn.ts";
import { isOpen, waitingText } from "./approvals-id.ts";
import type { Asking } from "./ask.ts";
import { INTERRUPTED, type Stopping } from "./interrupt.ts";
import { RunView } from "./run-view.ts";
import { shortId } from "./text.ts";

export interface FollowOptions {
  readonly host: Runtime;
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
export async function follow(session: Session, turn: Turn, options: FollowOptions): Promise<number> {
  const { asking, stopping, json, rehearsal } = options;
  const view = json ? undefined : new RunView(process.stdout, { rehearsal });
  asking.attach(view);
  let result: TurnResult;
  try {
    if (view !== undefined) await showOpenCalls(session, { view, host: options.host });
    result = await show(turn, { view, options });
    // What was asked before this command was started, and goes on only with an answer.
    while (result.stopReason.type === "requires_action" && (await asking.askPending(session.id, options.signal))) {
      if (session.state.status !== "running") break;
      result = await show(await underWay(session, options.host), { view, options });
    }
  } catch (thrown) {
    view?.close(session.id);
    throw thrown;
  }
  if (view !== undefined && result.output !== undefined)
    process.stdout.write(`${JSON.stringify(result.output, null, 2)}\n`);
  if (process.stdout.errored === null) view?.close(session.id);
  if (stopping.stopped) {
    process.stderr.write(`capstan: Interrupted. Go on with: capstan run --resume ${shortId(session.id)} "…"\n`);
    return INTERRUPTED;
  }
  if (result.stopReason.type === "requires_action") return waiting(session, options);
  return exitCode(result);
}

/** Tells what the session waits for, and returns the exit code. */
export async function waiting(session: Session, { host, rehearsal }: FollowOptions): Promise<number> {
  const pending = await host.approvals.list({ sessionId: session.id, status: "pending" });
  const text = waitingText(session.id, pending.filter(isOpen), { rehearsal });
  // Somebody may have answered just now, where this process no longer looks.
  process.stderr.write(
    `capstan: ${text || `Session ${shortId(session.id)} waits. Go on with: capstan run --resume ${shortId(session.id)}\n`}`,
  );
  return 5;
}

/** Whether the session is in a turn that waits for a person. */
export function isWaiting({ state }: Session): boolean {
  return state.status === "idle" && inTurn(state);
}

/** The turn that a session is in since before anybody looked, from where it last began to run. */
export async function underWay(session: Session, host: Runtime): Promise<Turn> {
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

/** Calls that were made before, so that their outcomes can be told with what they were. */
async function showOpenCalls(session: Session, { view, host }: { view: RunView; host: Runtime }): Promise<void> {
  const open = session.state.openCalls;
  if (Object.keys(open).length === 0) return;
  for (const event of await host.read(session.id))
    if ((event.type === "agent.tool_use" || event.type === "agent.mcp_tool_use") && event.call_id in open)
      view.show(event);
}

async function show(
  turn: Turn,
  { view, options }: { view: RunView | undefined; options: FollowOptions },
): Promise<TurnResult> {
  for await (const item of turn) {
    options.trace?.(JSON.stringify({ at: Date.now(), ...item }));
    if (process.stdout.errored === null) {
      if (view !== undefined) view.show(item);
      else if (isEvent(item)) process.stdout.write(`${JSON.stringify(item)}\n`);
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
