import type { Cassette, CassetteExchange, CassetteThread, RecordedAnswer } from "../../core/suite/cassette.ts";
import type { Drift, Ignored } from "../../core/ports/tape.ts";
import type { RequestOrigin } from "../upstreams/upstream.ts";
import { type RequestFingerprint, shortHash, taskOf } from "./request-fingerprint.ts";
import { type Difference, differences, isEqualJson, unifiedDiff } from "./drift.ts";
import type { Placeholders } from "./placeholders.ts";
import { type Leeway, steady } from "./varying/ignored-kinds.ts";

export interface Played {
  readonly answer: RecordedAnswer | undefined;
  readonly drifts: readonly Drift[];
  readonly ignored: readonly Ignored[];
}

/** Plays back one session of a cassette: finds the recorded answer to a request. */
export class Player {
  readonly #texts: Cassette["texts"];
  readonly #session: string;
  readonly #places: Placeholders;
  readonly #interrupted = new Set<string>();
  readonly #leeway: Leeway;
  readonly #lines: readonly Line[];
  /** The engine's id of a subagent → its thread on the cassette. */
  readonly #threads = new Map<string, string>();

  constructor(
    { threads, texts }: Cassette,
    session: string,
    { places, ignore }: { readonly places: Placeholders; readonly ignore: readonly RegExp[] },
  ) {
    this.#texts = texts;
    this.#leeway = { ignore, interrupted: this.#interrupted };
    this.#session = session;
    this.#places = places;
    this.#lines = threads.filter((one) => one.session === session).map((thread) => new Line(thread));
  }

  next(asked: RequestFingerprint, origin: RequestOrigin): Played {
    const thread = this.#threadOf(asked, origin);
    const line = this.#lines.find((one) => one.isOf(thread, origin.requestClass));
    const { exchange, ordinal } = line?.take(asked, this.#leeway) ?? { exchange: undefined, ordinal: 1 };
    const drift = (difference: Difference): Drift => ({ session: this.#session, thread, ordinal, ...difference });
    if (exchange === undefined)
      return { answer: undefined, drifts: [drift(this.#unrecordedRequest(asked, origin, ordinal))], ignored: [] };
    const compared = differences(exchange, asked, this.#texts, { leeway: this.#leeway });
    return {
      answer: exchange.answer,
      drifts: compared.differences.map(drift),
      ignored: compared.ignored.map((one) => ({ session: this.#session, thread, ordinal, ...one })),
    };
  }

  /** The turn was interrupted: how far the calls of the latest answers got is a matter of luck. */
  interrupt(): void {
    for (const id of this.#lines.flatMap((line) => line.latestCalls)) this.#interrupted.add(id);
  }

  get unplayed(): { readonly thread: string; readonly ordinal: number }[] {
    return this.#lines.flatMap((line) => line.unplayed);
  }

  /** A subagent is identified by its task; subagents with the same task are interchangeable. */
  #threadOf(asked: RequestFingerprint, { engineAgentId }: RequestOrigin): string {
    if (engineAgentId === undefined) return "main";
    const known = this.#threads.get(engineAgentId);
    if (known !== undefined) return known;
    const free = this.#lines.filter((line) => line.isSubagent && ![...this.#threads.values()].includes(line.thread));
    const task = taskOf(asked);
    const alike = free.filter((one) => one.task === task);
    const line = alike.find((one) => one.hasPrompt(asked)) ?? alike[0] ?? (free.length === 1 ? free[0] : undefined);
    const thread = line?.thread ?? `an unknown subagent`;
    if (line === undefined) return thread;
    this.#threads.set(engineAgentId, thread);
    this.#places.name(engineAgentId, thread);
    return thread;
  }

  #unrecordedRequest(
    asked: RequestFingerprint,
    { engineAgentId, requestClass }: RequestOrigin,
    ordinal: number,
  ): Difference {
    const who = engineAgentId === undefined ? "the primary thread" : "a subagent";
    const nearest = this.#lines.find((line) => line.isSubagent === (engineAgentId !== undefined));
    return {
      what: "unrecorded",
      summary: `request ${ordinal} of ${who} (${requestClass}) is not on the cassette`,
      diff: unifiedDiff(nearest?.last?.news ?? [], asked.news),
    };
  }
}

class Line {
  readonly #thread: CassetteThread;
  readonly #played = new Set<number>();
  #latest: CassetteExchange | undefined;

  constructor(thread: CassetteThread) {
    this.#thread = thread;
  }

  get thread(): string {
    return this.#thread.thread;
  }

  get isSubagent(): boolean {
    return this.#thread.thread !== "main" && this.#thread.class !== "auxiliary";
  }

  get task(): string | undefined {
    const [first] = this.#thread.exchanges;
    return first && taskOf(first);
  }

  /** Subagents of several kinds may have the same task. */
  hasPrompt({ instructions, tools }: RequestFingerprint): boolean {
    const [first] = this.#thread.exchanges;
    return first?.instructions === shortHash(instructions) && first.tools === shortHash(tools);
  }

  /** The ids of the calls in the answer that was played last. */
  get latestCalls(): readonly string[] {
    const answer = this.#latest?.answer;
    const content = answer === undefined || answer.kind === "error" ? [] : answer.message.content;
    return content.flatMap(({ type, id }) => (type === "tool_use" && typeof id === "string" ? [id] : []));
  }

  get last(): CassetteExchange | undefined {
    return this.#thread.exchanges.at(-1);
  }

  get unplayed(): { readonly thread: string; readonly ordinal: number }[] {
    return [...this.#thread.exchanges.keys()]
      .filter((index) => !this.#played.has(index))
      .map((index) => ({ thread: this.thread, ordinal: index + 1 }));
  }

  isOf(thread: string, requestClass: string): boolean {
    return this.#thread.thread === thread && this.#thread.class === requestClass;
  }

  /** In order, except for auxiliary requests, which may come in any order. */
  take(
    asked: RequestFingerprint,
    leeway: Leeway,
  ): { readonly exchange: CassetteExchange | undefined; readonly ordinal: number } {
    const free = [...this.#thread.exchanges.keys()].filter((index) => !this.#played.has(index));
    const news = steady(asked.news, leeway).news;
    const fits = (index: number): boolean =>
      isEqualJson(steady(this.#thread.exchanges[index]?.news ?? [], leeway).news, news);
    const index = (this.#thread.class === "auxiliary" ? free.find(fits) : undefined) ?? free[0];
    if (index === undefined) return { exchange: undefined, ordinal: this.#thread.exchanges.length + 1 };
    this.#played.add(index);
    this.#latest = this.#thread.exchanges[index];
    return { exchange: this.#latest, ordinal: index + 1 };
  }
}
