import { CapstanApiError, type LoggedEvent, type Preview } from "../../../src/client/index.ts";
import { api } from "../api.ts";
import { type Sayings, withPreview } from "./transcript/transcript.ts";

/** Events read from the end of the log at first, and with each step backward. */
const PAGE = 200;
/** In characters: longer texts are loaded on request. */
const CLIP = 20_000;
/** Events kept in memory. The oldest are dropped first and can be read again. */
const MOST = 3_000;
/** A higher limit while a person reads further up, so that their position stays. */
const MOST_READ = 12_000;
const NOTHING: Sayings = new Map();

export interface LiveView {
  readonly events: readonly LoggedEvent[];
  readonly sayings: Sayings;
  /** Whether the log has events before the first one here. */
  readonly hasOlder: boolean;
  readonly connection: "loading" | "live" | "retrying" | "ended";
  /** Why it is reconnecting, or why it has ended. */
  readonly problem?: CapstanApiError;
}

const EMPTY: LiveView = { events: [], sayings: NOTHING, hasOlder: false, connection: "loading" };

/**
 * Follows one session: first the end of its log, then new events, and earlier ones on request. After a lost connection it
 * continues where it was.
 */
export class LiveSession {
  readonly #id: string;
  readonly #listeners = new Set<() => void>();
  #view = EMPTY;
  #scheduled = false;
  #older: Promise<void> | undefined;
  /** Whether the person reads further up. */
  isReading = false;

  constructor(id: string) {
    this.#id = id;
  }

  readonly view = (): LiveView => this.#view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Follows until aborted, or until the server reports that the session is gone. */
  async run(onEvent: (event: LoggedEvent) => void, signal: AbortSignal): Promise<void> {
    try {
      let after = await this.#readEnd(signal);
      while (!signal.aborted) {
        await this.#follow(after, onEvent, signal);
        after = this.#view.events.at(-1)?.seq ?? after;
      }
    } catch (thrown) {
      if (!signal.aborted) this.#set({ connection: "ended", problem: problemOf(thrown) });
    }
  }

  /** The client stops retrying after a while; an open page does not. */
  async #follow(after: number, onEvent: (event: LoggedEvent) => void, signal: AbortSignal): Promise<void> {
    const onRetry = (problem: CapstanApiError): void =>
      // Discard previews: lost pieces would leave gaps in the text.
      this.#set({ connection: "retrying", problem, sayings: NOTHING });
    try {
      const items = api.sessions.stream(this.#id, {
        after,
        clip: CLIP,
        over: "socket",
        signal,
        onRetry: (_failures, problem) => onRetry(problem),
        onConnect: () => this.#set({ connection: "live" }),
      });
      for await (const item of items) this.#take(item, onEvent);
    } catch (thrown) {
      const problem = problemOf(thrown);
      if (!problem.isPassing) throw thrown;
      onRetry(problem);
    }
  }

  /** Loads one more page before the first event. */
  older(): Promise<void> {
    this.#older ??= this.#loadOlder().finally(() => (this.#older = undefined));
    return this.#older;
  }

  async #loadOlder(): Promise<void> {
    const first = this.#view.events[0]?.seq;
    if (first === undefined || !this.#view.hasOlder) return;
    const from = Math.max(0, first - 1 - PAGE);
    const { data } = await api.sessions.page(this.#id, { after: from, up_to: first - 1, limit: PAGE, clip: CLIP });
    // The oldest events may have been dropped meanwhile: a page that does not join would leave a gap.
    if (this.#view.events[0]?.seq !== first) return;
    this.#set({ events: [...data, ...this.#view.events], hasOlder: from > 0 });
  }

  /** Loads the last page of the log and returns its last seq. Waits for a server that restarts. */
  async #readEnd(signal: AbortSignal): Promise<number> {
    for (let failures = 0; ; failures += 1) {
      try {
        const { head } = await api.sessions.get(this.#id);
        const from = Math.max(0, head - PAGE);
        const { data } = await api.sessions.page(this.#id, { after: from, limit: PAGE, clip: CLIP });
        if (!signal.aborted) this.#set({ events: data, hasOlder: from > 0, connection: "live" });
        return data.at(-1)?.seq ?? from;
      } catch (thrown) {
        const problem = problemOf(thrown);
        if (!problem.isPassing || signal.aborted) throw thrown;
        this.#set({ connection: "retrying", problem });
        await new Promise((resolve) => setTimeout(resolve, Math.min(250 * 2 ** failures, 5_000)));
      }
    }
  }

  #take(item: LoggedEvent | Preview, onEvent: (event: LoggedEvent) => void): void {
    if (!("seq" in item)) return this.#set({ sayings: withPreview(this.#view.sayings, item), connection: "live" });
    const all = [...this.#view.events, item];
    const isLong = all.length > (this.isReading ? MOST_READ : MOST);
    const events = isLong ? all.slice(-MOST + PAGE) : all;
    let { sayings } = this.#view;
    // A saved event ends its preview, and the end of a turn ends all previews.
    if (
      sayings.size > 0 &&
      (sayings.has(item.id) || item.type === "session.status_idle" || item.type === "capstan.process_lost")
    )
      sayings = item.type.startsWith("agent.") ? without(sayings, item.id) : NOTHING;
    this.#set({ events, sayings, connection: "live", ...(isLong && { hasOlder: true }) });
    onEvent(item);
  }

  #set(change: Partial<LiveView>): void {
    const { problem: _old, ...rest } = this.#view;
    this.#view = { ...rest, ...change };
    if (this.#scheduled) return;
    this.#scheduled = true;
    // Batches updates. A timer rather than a frame, because background pages are never painted.
    setTimeout(() => {
      this.#scheduled = false;
      for (const tell of this.#listeners) tell();
    }, 16);
  }
}

function problemOf(thrown: unknown): CapstanApiError {
  if (thrown instanceof CapstanApiError) return thrown;
  return new CapstanApiError(String(thrown), { status: 0, type: "connection_error" });
}

function without(sayings: Sayings, id: string): Sayings {
  const rest = new Map(sayings);
  rest.delete(id);
  return rest;
}
