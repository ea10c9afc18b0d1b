import type { EventDraft } from "../../../core/events/events.ts";
import { toolUseDraft } from "../../tool-use.ts";
import type { Answer, AnswerBlock } from "../model/wire.ts";
import type { MadeCall } from "./calls.ts";
import { modelAnswers, type Item, itemOfAnswer, type ModelItem } from "./conversation.ts";
import type { Workplace } from "./workplace.ts";

interface Record {
  readonly place: Workplace;
  readonly threadId: string | undefined;
  /** The conversation so far. */
  readonly items: readonly Item[];
  /** Call → the event that announces it; the calls of the answer are added. */
  readonly eventOfCall: Map<string, string>;
}

/** Logs an answer, all of it at once. Resolves to its conversation item and its calls. */
export async function recordAnswer(
  answer: Answer,
  record: Record,
): Promise<{ readonly item: ModelItem | undefined; readonly calls: readonly MadeCall[] }> {
  const { host, customTools } = record.place;
  const { threadId, eventOfCall } = record;
  const { messageId, blocks } = withOwnNames(answer, record);
  const base = { ...(threadId !== undefined && { session_thread_id: threadId }), message_id: messageId };
  for (const block of blocks) {
    const id = block.type === "text" || block.type === "thinking" ? block.id : host.newEventId();
    if (block.type === "call") eventOfCall.set(block.callId, id);
    const draft = draftOf(block, { id, ...base }, customTools);
    if (draft !== undefined) await host.emit({ kind: "event", draft });
  }
  return {
    item: blocks.length === 0 ? undefined : itemOfAnswer({ messageId, blocks }),
    calls: blocks.flatMap((block) => (block.type === "call" ? [block] : [])),
  };
}

/** Undefined for content that the log can't represent. */
function draftOf(
  block: AnswerBlock,
  base: { readonly id: string; readonly session_thread_id?: string; readonly message_id: string },
  customTools: readonly string[],
): EventDraft | undefined {
  switch (block.type) {
    case "text":
      return { type: "agent.message", ...base, content: [{ type: "text", text: block.text }] };
    case "thinking":
      return { type: "agent.thinking", ...base, thinking: block.thinking, signature: block.signature };
    case "call":
      return toolUseDraft(base, { ...block, id: block.callId }, customTools);
    case "other":
      return undefined;
  }
}

/** Some providers reuse ids, but the log needs unique ids for answers and calls. */
function withOwnNames({ messageId, blocks }: Answer, { place, items }: Record): Pick<Answer, "messageId" | "blocks"> {
  const newName = (kind: string): string => `${kind}_${place.host.newEventId().slice("sevt_".length)}`;
  const { callIds } = place;
  const isTaken = messageId === "" || modelAnswers(items).some((item) => item.messageId === messageId);
  return {
    messageId: isTaken ? newName("msg") : messageId,
    blocks: blocks.map((block) => {
      if (block.type !== "call") return block;
      const isOwn = /^[\w-]{1,200}$/.test(block.callId) && !callIds.has(block.callId);
      const callId = isOwn ? block.callId : newName("toolu");
      callIds.add(callId);
      return { ...block, callId };
    }),
  };
}
