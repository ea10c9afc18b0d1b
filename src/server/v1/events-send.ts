import type { Context } from "hono";
import { inTurn } from "../../core/session/state.ts";
import type { SessionRecord } from "../../core/ports/store.ts";
import type { ApprovalAnswer } from "../../core/session/approval.ts";
import { wireEvent } from "../../protocol/v1/events.ts";
import { type EventParams, eventsSend } from "../../protocol/v1/message-input.ts";
import { invalid, notSupported } from "../../protocol/v1/refusal.ts";
import { primaryThreadId } from "../../protocol/v1/threads.ts";
import { requireNotArchived } from "../../runtime/files/session-archive.ts";
import { readBody } from "../body/read.ts";
import { answererOf, type Caller, type Env, requireRole } from "../http/context.ts";
import { firstEvent } from "../stream/turn-start.ts";
import { findSession } from "../http/lookup.ts";
import { confirmationAnswer, openQuestion, resultAnswer } from "./answers.ts";
import { FileRoom, readMessageContent } from "../files/content.ts";
import type { V1Deps } from "./deps.ts";
import { param } from "./request.ts";
import { noOutcomes } from "./session-create.ts";

/** A validated action to perform; returns the event that reports it. */
type Deed = () => Promise<object>;

interface Sending {
  readonly deps: V1Deps;
  readonly caller: Caller;
  readonly record: SessionRecord;
  readonly room: FileRoom;
}

/** Validates all events of a request before it acts on any of them, in order. */
export async function sendEvents(deps: V1Deps, c: Context<Env>): Promise<{ readonly data: readonly object[] }> {
  const caller = requireRole(c, "operator");
  const record = await findSession(deps, caller.project, param(c, "session"));
  const { events } = await readBody(c, eventsSend);
  requireNotArchived(record);
  requireDistinct(events);
  const sending: Sending = { deps, caller, record, room: new FileRoom() };
  const deeds: Deed[] = [];
  for (const event of events) deeds.push(await checkEvent(sending, event));
  if (events.some(({ type }) => type === "user.message")) deps.runtime.requireRoom();
  const { runtime, watchers } = deps;
  // A message reports its own seq once saved, and streams start from there; other events start from the current head.
  const isOther = events.every(({ type }) => type !== "user.message");
  const watcher = { sessionId: record.id, callerId: caller.id };
  if (isOther && !watchers.isWatched(watcher)) watchers.noteSent(watcher, await runtime.head(record.id));
  const data: object[] = [];
  for (const deed of deeds) data.push(await deed());
  // Some process must act on the answer. Another process that drives the session notices it on its own.
  if (events.some(isAnswer))
    runtime.attend(record.id).catch((thrown: unknown) => {
      c.get("log")?.warn({ session: record.id, err: thrown }, "could not continue a session after an answer");
    });
  return { data };
}

function isAnswer({ type }: EventParams): boolean {
  return type === "user.tool_confirmation" || type === "user.custom_tool_result";
}

function requireDistinct(events: readonly EventParams[]): void {
  const answered = events.flatMap((event) => {
    if (event.type === "user.tool_confirmation") return [event.tool_use_id];
    return event.type === "user.custom_tool_result" ? [event.custom_tool_use_id] : [];
  });
  const twice = answered.find((id, index) => answered.indexOf(id) < index);
  if (twice !== undefined) throw invalid(`events: ${twice} is answered twice. Remove one of the answers.`);
}

async function checkEvent(sending: Sending, event: EventParams): Promise<Deed> {
  const { deps, caller, record, room } = sending;
  const { runtime } = deps;
  switch (event.type) {
    case "user.message": {
      const content = await readMessageContent(deps, { project: caller.project, room }, event.content);
      return async () => {
        const stored = await firstEvent((await runtime.attend(record.id)).send(content));
        deps.watchers.noteSent({ sessionId: record.id, callerId: caller.id }, stored.seq - 1);
        return wireEvent(stored);
      };
    }
    case "user.interrupt": {
      const { session_thread_id: thread } = event;
      if (thread != null && thread !== primaryThreadId(record.id))
        throw notSupported("interrupting a single thread", "Omit session_thread_id to interrupt the session.");
      return () => interruptSession(sending);
    }
    case "user.tool_confirmation": {
      const approval = await openQuestion(deps, record.id, event.tool_use_id);
      return answering(sending, event, { approvalId: approval.id, answer: confirmationAnswer(approval, event) });
    }
    case "user.custom_tool_result": {
      const approval = await openQuestion(deps, record.id, event.custom_tool_use_id);
      return answering(sending, event, {
        approvalId: approval.id,
        answer: await resultAnswer({ ...deps, room }, approval, event),
      });
    }
    case "user.define_outcome":
      throw noOutcomes();
    case "user.tool_result":
      throw notSupported(
        "user.tool_result",
        "The server runs the agent's tools itself; answer with user.tool_confirmation.",
      );
    case "system.message":
      throw notSupported("system.message", "Send it in a user.message, or put it into the agent's system prompt.");
  }
}

/** The event gets into the log, under the id returned here, when the session has acted on the answer. */
function answering(
  { deps, caller }: Sending,
  event: EventParams,
  { approvalId, answer }: { readonly approvalId: string; readonly answer: ApprovalAnswer },
): Deed {
  return async () => {
    const eventId = deps.ids.next("sevt");
    await deps.runtime.approvals.answer(approvalId, { ...answer, eventId }, answererOf(caller));
    return { id: eventId, ...event, processed_at: null };
  };
}

/** Resolves when the turn has ended. Without a turn, nothing is saved. */
async function interruptSession({ deps: { runtime, ids, clock }, record }: Sending): Promise<object> {
  if (inTurn(await runtime.state(record.id))) {
    const head = await runtime.head(record.id);
    const session = await runtime.attend(record.id);
    await session.interrupt();
    const stored = (await runtime.read(record.id, { after: head })).find(({ type }) => type === "user.interrupt");
    if (stored !== undefined) return wireEvent(stored);
  }
  return { id: ids.next("sevt"), type: "user.interrupt", processed_at: new Date(clock.now()).toISOString() };
}
