import type { MessageContent } from "../../core/events/content.ts";
import type { ModelRequestInfo } from "../../core/ports/gateway.ts";

export interface PendingMessage {
  readonly eventId: string;
  readonly content: MessageContent;
}

interface Given {
  readonly content: MessageContent;
  taken: boolean;
  held: boolean;
}

type Request = Pick<ModelRequestInfo, "engineAgentId" | "requestClass" | "said">;

/** This many characters identify a text; the engine may shorten a very long one. */
const PROBE_CHARS = 400;

/**
 * The messages that one process was given. A message is delivered once the process has taken it and a model request
 * contained it: a process can take a message and end without asking the model anything.
 */
export class Deliveries {
  readonly #given = new Map<string, Given>();
  readonly #onDelivered: (eventIds: readonly string[]) => Promise<void>;

  constructor(onDelivered: (eventIds: readonly string[]) => Promise<void>) {
    this.#onDelivered = onDelivered;
  }

  has(eventId: string): boolean {
    return this.#given.has(eventId);
  }

  give({ eventId, content }: PendingMessage): void {
    this.#given.set(eventId, { content, taken: false, held: false });
  }

  /** The process reports that it took them, perhaps after the request that contains them has arrived. */
  markTaken(eventIds: readonly string[]): Promise<void> {
    return this.#note(
      eventIds.flatMap((id) => this.#given.get(id) ?? []),
      "taken",
    );
  }

  /** Messages that are delivered as soon as this request is granted. */
  due(request: Request): readonly string[] {
    const held = this.#heldBy(request);
    return [...this.#given].flatMap(([id, given]) => (given.taken && held.includes(given) ? [id] : []));
  }

  /** A model request of the session was granted. */
  markRequested(request: Request): Promise<void> {
    return this.#note(this.#heldBy(request), "held");
  }

  #heldBy({ engineAgentId, requestClass, said }: Request): readonly Given[] {
    // A subagent's or a tool's own request does not answer the user.
    if (engineAgentId !== undefined || requestClass === "auxiliary") return [];
    return [...this.#given.values()].filter(({ held, content }) => !held && holds(said, content));
  }

  async #note(messages: readonly Given[], what: "taken" | "held"): Promise<void> {
    const delivered: string[] = [];
    for (const [id, given] of this.#given) {
      if (!messages.includes(given) || given[what]) continue;
      given[what] = true;
      if (given.taken && given.held) delivered.push(id);
    }
    if (delivered.length > 0) await this.#onDelivered(delivered);
  }
}

/**
 * Whether the new text of a request contains this message. Spaces and punctuation may differ, words may not. A message
 * without words is an image or a document, which the engine may convert: any request counts as containing it.
 */
function holds(said: string, content: MessageContent): boolean {
  const probes = content.map((block) => (block.type === "text" ? wordsOf(block.text).slice(0, PROBE_CHARS) : ""));
  if (probes.every((probe) => probe === "")) return true;
  const words = wordsOf(said);
  return probes.every((probe) => words.includes(probe));
}

function wordsOf(text: string): string {
  return text.normalize("NFC").replaceAll(/[^\p{L}\p{N}]/gu, "");
}
