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
import { FileRoom, messageContent } from "../files/content.ts";
import type { V1Deps } from "./deps.ts";
import { param } from "./request.ts";
import { noOutcomes } from "./session-create.ts";

/** Something that was checked and is to be done; it gives the event that tells of it. */
type Deed = () => Promise<object>;

interface Sending {
  readonly deps: V1Deps;
  readonly caller: Caller;
  readonly record: SessionRecord;
  readonly room: FileRoom;
}

/** All events of a request are checked before any of them is acted on, and then acted on in their order. */
export async function sendEvents(deps: V1Deps, c: Context<Env>): Promise<{ readonly data: readonly object[] }> {
  const caller = requireRole(c, "operator");
  const record = await findSession(deps, caller.project, param(c, "session"));
  const { events } = await readBody(c, eventsSend);
  requireNotArchived(record);
  requireDistinct(events);
  const sending: Sending = { deps, caller, record, room: new FileRoom() };
  const deeds: Deed[] = [];
  for (const event of events) deeds.push(await checked(sending, event));
  if (events.some(({ type }) => type === "user.message")) deps.runtime.requireRoom();
  const { runtime, watchers } = deps;
  // What a message leads to is waited for from the message on, which tells its place when it is stored.
  const isOther = events.every(({ type }) => type !== "user.message");
  const watcher = { sessionId: record.id, callerId: caller.id };
  if (isOther && !watchers.isWatched(watcher)) watchers.sent(watcher, await runtime.head(record.id));
  const data: object[] = [];
  for (const deed of deeds) data.push(await deed());
  // Somebody must act on an answer. Another process that drives the session sees it by itself.
  if (events.some(isAnswer))
    runtime.attend(record.id).catch((thrown: unknown) => {
      c.get("log")?.warn({ session: record.id, err: thrown }, "a session with an answer could not be attended to");
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
  if (twice !== undefined) throw invalid(`events: ${twice} is answered twice. Leave one of the answers out.`);
}

async function checked(sending: Sending, event: EventParams): Promise<Deed> {
  const { deps, caller, record, room } = sending;
  const { runtime } = deps;
  switch (event.type) {
    case "user.message": {
      const content = await messageContent(deps, { project: caller.project, room }, event.content);
      return async () => {
        const stored = await firstEvent((await runtime.attend(record.id)).send(content));
        deps.watchers.sent({ sessionId: record.id, callerId: caller.id }, stored.seq - 1);
        return wireEvent(stored);
      };
    }
    case "user.interrupt": {
      const { session_thread_id: thread } = event;
      if (thread != null && thread !== primaryThreadId(record.id))
        throw notSupported("the interruption of one thread", "Leave session_thread_id out to interrupt the session.");
      return () => interrupted(sending);
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
      throw notSupported("system.message", "Say it in a user.message, or in the agent's system prompt.");
  }
}

/** The event stands in the log, under the id that is told here, when the session has acted on the answer. */
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

/** Resolves when the turn is over. Where there is none, nothing is to be stored either. */
async function interrupted({ deps: { runtime, ids, clock }, record }: Sending): Promise<object> {
  if (inTurn(await runtime.state(record.id))) {
    const head = await runtime.head(record.id);
    const session = await runtime.attend(record.id);
    await session.interrupt();
    const stored = (await runtime.read(record.id, { after: head })).find(({ type }) => type === "user.interrupt");
    if (stored !== undefined) return wireEvent(stored);
  }
  return { id: ids.next("sevt"), type: "user.interrupt", processed_at: new Date(clock.now()).toISOString() };
}
