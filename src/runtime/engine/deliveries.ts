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

/** So much of a text identifies it; the engine may shorten what is very long. */
const PROBE_CHARS = 400;

/**
 * The messages that one process was given. Each is delivered once the process has taken it and a model request has held
 * it: a process can take a message and end without asking the model anything.
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

  /** The process says so, perhaps after the request that holds them has arrived. */
  taken(eventIds: readonly string[]): Promise<void> {
    return this.#note(
      eventIds.flatMap((id) => this.#given.get(id) ?? []),
      "taken",
    );
  }

  /** A model request of the session was let through. */
  requested(request: Pick<ModelRequestInfo, "engineAgentId" | "requestClass" | "said">): Promise<void> {
    // What a subagent or a tool asks the model for itself is no answer to the user.
    if (request.engineAgentId !== undefined || request.requestClass === "auxiliary") return Promise.resolve();
    return this.#note(
      [...this.#given.values()].filter(({ held, content }) => !held && holds(request.said, content)),
      "held",
    );
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
 * Whether what a request says for the first time holds this message. Spaces and punctuation may differ, words may not. A
 * message without words is an image or a document, which the engine may convert: any request holds it.
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
