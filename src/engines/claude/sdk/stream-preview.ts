import type { SDKPartialAssistantMessage } from "@anthropic-ai/claude-agent-sdk";
import type { EngineFact } from "../../../core/ports/engine.ts";
import { type OpenBlock, type Translation, type TranslatorState, withdrawals } from "./translation.ts";

export function onStreamEvent(state: TranslatorState, message: SDKPartialAssistantMessage): Translation {
  const { event } = message;
  if (message.parent_tool_use_id != null) return { state, facts: [] };
  switch (event.type) {
    case "message_start":
      // A new message while blocks are open means that the previous one was cut off and requested again.
      return {
        state: { ...state, streaming: event.message.id, openBlocks: [] },
        facts: withdrawals(state.openBlocks),
      };
    case "content_block_start": {
      const type = event.content_block.type === "text" ? "agent.message" : "agent.thinking";
      if (event.content_block.type !== "text" && event.content_block.type !== "thinking") return { state, facts: [] };
      const block: OpenBlock = { messageId: state.streaming, index: event.index, id: state.newId(), type };
      return {
        state: { ...state, openBlocks: [...state.openBlocks, block] },
        facts: [{ kind: "preview", preview: { type: "event_start", event: { id: block.id, type } } }],
      };
    }
    case "content_block_delta": {
      const block = state.openBlocks.find((open) => open.index === event.index);
      const text =
        event.delta.type === "text_delta"
          ? event.delta.text
          : event.delta.type === "thinking_delta"
            ? event.delta.thinking
            : "";
      return { state, facts: block === undefined || text === "" ? [] : [delta(block.id, text)] };
    }
    default:
      return { state, facts: [] };
  }
}

function delta(eventId: string, text: string): EngineFact {
  const content = { type: "text" as const, text };
  return {
    kind: "preview",
    preview: { type: "event_delta", event_id: eventId, delta: { type: "content_delta", content } },
  };
}
