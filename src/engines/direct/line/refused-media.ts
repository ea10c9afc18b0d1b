import type { EventDraft } from "../../../core/events/events.ts";
import type { Asker } from "../model/ask-model.ts";
import { RequestFailure } from "../model/failure.ts";
import type { ApiBlock, ApiMessage, ApiText } from "../model/wire.ts";

type Media = Extract<ApiBlock, { type: "image" | "document" }>;

/** Of what the API says about a refusal, for the model. */
const SHOWN_CHARACTERS = 300;
/** As the API names a block that it refuses, alone or in the result of a tool. */
const PLACE = /messages\.(\d+)\.content\.(\d+)(?:(?:\.tool_result)?\.content\.(\d+))?/;

/**
 * Pictures and documents that the model API refuses. The log keeps them, and a conversation that still had them would be
 * refused for ever: a note stands in their place, for as long as the session is open.
 */
export class RefusedMedia {
  /** By their content, with what the model is told. */
  readonly #refused = new Map<string, string>();
  readonly #accepted = new Set<string>();

  /** The conversation as it can be sent. */
  without(messages: readonly ApiMessage[]): readonly ApiMessage[] {
    if (this.#refused.size === 0) return messages;
    return messages.map(({ role, content }) => ({ role, content: content.map((block) => this.#replaced(block)) }));
  }

  accept(messages: readonly ApiMessage[]): void {
    for (const media of mediaIn(messages)) this.#accepted.add(keyOf(media));
  }

  /** Whether the refusal is about something that was sent, which is left out from now on. The log is told. */
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
    await host.emit({ kind: "event", draft: told(why, threadId) });
    return true;
  }

  /** What the API names; or else what is new; or else all there is. */
  #refusedIn(messages: readonly ApiMessage[], said: string): readonly Media[] {
    const named = namedIn(messages, said);
    if (named !== undefined) return [named];
    const all = mediaIn(messages);
    const unknown = all.filter((media) => !this.#accepted.has(keyOf(media)));
    return unknown.length > 0 ? unknown : all;
  }

  #replaced(block: ApiBlock): ApiBlock {
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

function told(why: string, threadId: string | undefined): EventDraft<"session.error"> {
  return {
    type: "session.error",
    ...(threadId !== undefined && { session_thread_id: threadId }),
    error: {
      type: "model_request_failed_error",
      message: `The model API refused an image or a document, which is left out from now on: ${why}`,
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

/** The media in a result, each at its place. */
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
