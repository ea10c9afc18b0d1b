import type { Cassette, CassetteExchange, CassetteThread, RecordedAnswer } from "../../core/suite/cassette.ts";
import type { RequestOrigin } from "../upstreams/upstream.ts";
import { type RequestFingerprint, shortHash } from "./request-fingerprint.ts";
import { mapTexts, type Placeholders } from "./placeholders.ts";

/** Records the requests and answers of one session by thread, in the order of the requests. */
export class Recorder {
  readonly #session: string;
  readonly #places: Placeholders;
  readonly #texts: Record<string, unknown> = {};
  readonly #lines: { thread: string; class: string; slots: Slot[] }[] = [];
  /** The engine's id of a subagent → its name on the cassette. */
  readonly #threads = new Map<string, string>();

  constructor(session: string, places: Placeholders) {
    this.#session = session;
    this.#places = places;
  }

  /** Returns a function that takes the answer. A request without an answer is not on the cassette. */
  add(asked: RequestFingerprint, { engineAgentId, requestClass }: RequestOrigin): (answer: RecordedAnswer) => void {
    const thread = engineAgentId === undefined ? "main" : this.#nameOf(engineAgentId);
    let line = this.#lines.find((one) => one.thread === thread && one.class === requestClass);
    if (line === undefined) this.#lines.push((line = { thread, class: requestClass, slots: [] }));
    const { model, settings, news } = asked;
    const slot: Slot = {
      asked: {
        model,
        instructions: this.#keep(asked.instructions),
        tools: this.#keep(asked.tools),
        settings,
        news,
      },
    };
    line.slots.push(slot);
    return (answer) => void (slot.answer = mapTexts(answer, this.#places.hide) as RecordedAnswer);
  }

  recording(): Pick<Cassette, "threads" | "texts"> {
    const threads = this.#lines.map(({ thread, class: requestClass, slots }): CassetteThread => ({
      session: this.#session,
      thread,
      class: requestClass,
      exchanges: slots.flatMap(({ asked, answer }) => (answer === undefined ? [] : [{ ...asked, answer }])),
    }));
    return { threads: threads.filter(({ exchanges }) => exchanges.length > 0), texts: this.#texts };
  }

  #nameOf(engineAgentId: string): string {
    const name = this.#threads.get(engineAgentId) ?? `agent-${this.#threads.size + 1}`;
    this.#threads.set(engineAgentId, name);
    this.#places.name(engineAgentId, name);
    return name;
  }

  #keep(value: unknown): string {
    const hash = shortHash(value);
    this.#texts[hash] = value;
    return hash;
  }
}

interface Slot {
  readonly asked: Omit<CassetteExchange, "answer">;
  answer?: RecordedAnswer;
}
