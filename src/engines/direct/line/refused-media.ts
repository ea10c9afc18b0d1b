import type { EventDraft } from "../../../core/events/events.ts";
import type { Asker } from "../model/ask-model.ts";
import { RequestFailure } from "../model/failure.ts";
import type { ApiBlock, ApiMessage, ApiText } from "../model/wire.ts";

type Media = Extract<ApiBlock, { type: "image" | "document" }>;

/** How much of the API's refusal the model sees. */
const SHOWN_CHARACTERS = 300;
/** How the API refers to a block it refuses, alone or in a tool result. */
const PLACE = /messages\.(\d+)\.content\.(\d+)(?:(?:\.tool_result)?\.content\.(\d+))?/;

/**
 * Images and documents that the model API refuses. The log keeps them, so the API would refuse the conversation
 * forever. While the session is open, a note replaces them.
 */
export class RefusedMedia {
  /** By content, with the note for the model. */
  readonly #refused = new Map<string, string>();
  readonly #accepted = new Set<string>();

  /** The conversation without refused media. */
  without(messages: readonly ApiMessage[]): readonly ApiMessage[] {
    if (this.#refused.size === 0) return messages;
    return messages.map(({ role, content }) => ({ role, content: content.map((block) => this.#replace(block)) }));
  }

  accept(messages: readonly ApiMessage[]): void {
    for (const media of mediaIn(messages)) this.#accepted.add(keyOf(media));
  }

  /** Whether the refusal is about media in the request. If so, they are left out from now on, and the log says so. */
  async leavesOut(
    thrown: unknown,
    messages: readonly ApiMessage[],
    { host, threadId }: Pick<Asker, "host" | "threadId">,
  ): Promise<boolean> {
    if (!(thrown instanceof RequestFailure) || !thrown.isAboutMedia) return false;
    const refused = this.#refusedIn(messages, thrown.message);
    if (refused.length === 0) return false;
    const why = thrown.message.slice(0, SHOWN_CHARACTERS).toWellFormed();
    for (const media of refused)
      this.#refused.set(keyOf(media), `[Not shown: the model API refused this ${media.type}. It said: ${why}]`);
    await host.emit({ kind: "event", draft: errorEvent(why, threadId) });
    return true;
  }

  /** The blocks that the API names; otherwise the new ones; otherwise all. */
  #refusedIn(messages: readonly ApiMessage[], said: string): readonly Media[] {
    const named = namedIn(messages, said);
    if (named !== undefined) return [named];
    const all = mediaIn(messages);
    const unknown = all.filter((media) => !this.#accepted.has(keyOf(media)));
    return unknown.length > 0 ? unknown : all;
  }

  #replace(block: ApiBlock): ApiBlock {
    const note = this.#noteFor(block);
    if (note !== undefined) return note;
    if (block.type !== "tool_result" || !Array.isArray(block.content)) return block;
    return { ...block, content: block.content.map((one) => this.#noteFor(one) ?? one) };
  }

  #noteFor(block: { readonly type: string }): ApiText | undefined {
    const text = isMedia(block) ? this.#refused.get(keyOf(block)) : undefined;
    return text === undefined ? undefined : { type: "text", text };
  }
}

function errorEvent(why: string, threadId: string | undefined): EventDraft<"session.error"> {
  return {
    type: "session.error",
    ...(threadId !== undefined && { session_thread_id: threadId }),
    error: {
      type: "model_request_failed_error",
      message: `The model API refused an image or a document. It is left out from now on: ${why}`,
      retry_status: { type: "retrying" },
      code: "model_failed",
      http_status: 400,
      retry_after_ms: 0,
    },
  };
}

function namedIn(messages: readonly ApiMessage[], said: string): Media | undefined {
  const [message, block, inner] = (PLACE.exec(said) ?? []).slice(1).map((index) => Number(index ?? NaN));
  const found = messages[message ?? NaN]?.content[block ?? NaN];
  if (found === undefined) return undefined;
  if (isMedia(found)) return found;
  const within = partsOf(found);
  return within[inner ?? NaN] ?? (within.length === 1 ? within[0] : undefined);
}

function mediaIn(messages: readonly ApiMessage[]): readonly Media[] {
  return messages.flatMap(({ content }) =>
    content.flatMap((block) => (isMedia(block) ? [block] : partsOf(block).filter((one) => one !== undefined))),
  );
}

/** The media in a result, each at its index. */
function partsOf(block: ApiBlock): readonly (Media | undefined)[] {
  if (block.type !== "tool_result" || !Array.isArray(block.content)) return [];
  return block.content.map((one) => (isMedia(one) ? one : undefined));
}

function isMedia(block: { readonly type: string }): block is Media {
  return block.type === "image" || block.type === "document";
}

function keyOf({ source }: Media): string {
  if ("data" in source) return source.data;
  return "url" in source ? source.url : JSON.stringify(source);
}
