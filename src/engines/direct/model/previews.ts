import type { EngineFact } from "../../../core/ports/engine.ts";
import type { AnswerDraft, StreamEvent } from "./answer-draft.ts";

const EVENTS: Readonly<Record<string, "agent.message" | "agent.thinking">> = {
  text: "agent.message",
  thinking: "agent.thinking",
};

/** Previews of an answer that is being streamed. */
export class AnswerPreviews {
  /** Previews shown that have no event yet. */
  readonly #shown = new Set<string>();

  take(event: StreamEvent, draft: AnswerDraft): EngineFact | undefined {
    const block = draft.at(event["index"]);
    const type = EVENTS[block?.type ?? ""];
    if (block === undefined || type === undefined) return undefined;
    if (event.type === "content_block_start") {
      this.#shown.add(block.id);
      return { kind: "preview", preview: { type: "event_start", event: { id: block.id, type } } };
    }
    if (event.type !== "content_block_delta") return undefined;
    const { text, thinking } = event["delta"] as { readonly text?: unknown; readonly thinking?: unknown };
    const said = typeof text === "string" ? text : typeof thinking === "string" ? thinking : "";
    if (said === "") return undefined;
    const content = { type: "text" as const, text: said };
    return {
      kind: "preview",
      preview: { type: "event_delta", event_id: block.id, delta: { type: "content_delta", content } },
    };
  }

  /** Withdraws previews that will never become events; `kept` are the ids of those that will. */
  withdraw(kept: readonly string[] = []): EngineFact[] {
    const gone = [...this.#shown].filter((id) => !kept.includes(id));
    this.#shown.clear();
    return gone.map((id) => ({ kind: "preview", preview: { type: "capstan.event_withdrawn", event_id: id } }));
  }
}
