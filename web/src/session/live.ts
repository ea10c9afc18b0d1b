import { CapstanApiError, type LoggedEvent, type Preview } from "../../../src/client/index.ts";
import { api } from "../api.ts";
import { type Sayings, withPreview } from "./transcript/transcript.ts";

/** How much of the log's end is read at first, and with each step backwards. */
const PAGE = 200;
/** In characters: longer texts come when somebody wants them. */
const CLIP = 20_000;
/** Events that are kept; the oldest go first, and can be read again. */
const MOST = 3_000;
/** While somebody reads further up, what they look at stays as long as it can. */
const MOST_READ = 12_000;
const NOTHING: Sayings = new Map();

export interface LiveView {
  readonly events: readonly LoggedEvent[];
  readonly sayings: Sayings;
  /** There is more of the log before the first event. */
  readonly hasOlder: boolean;
  readonly connection: "loading" | "live" | "retrying" | "ended";
  /** Why it is tried again, or why it has ended. */
  readonly problem?: CapstanApiError;
}

const EMPTY: LiveView = { events: [], sayings: NOTHING, hasOlder: false, connection: "loading" };

/**
 * One session as it happens: first the end of its log, then what comes, and what came before when somebody looks for it.
 * A cut connection goes on where it was.
 */
export class LiveSession {
  readonly #id: string;
  readonly #listeners = new Set<() => void>();
  #view = EMPTY;
  #scheduled = false;
  #older: Promise<void> | undefined;
  /** Whether somebody reads further up. */
  isReading = false;

  constructor(id: string) {
    this.#id = id;
  }

  readonly view = (): LiveView => this.#view;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Follows until the signal, or until the server says that there is nothing to follow. */
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

  /** The client gives up after a while; a page that somebody has left open does not. */
  async #follow(after: number, onEvent: (event: LoggedEvent) => void, signal: AbortSignal): Promise<void> {
    const onRetry = (problem: CapstanApiError): void =>
      // Words that are lost on the way would be missing in the middle.
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

  /** One more page before the first event. */
  older(): Promise<void> {
    this.#older ??= this.#loadOlder().finally(() => (this.#older = undefined));
    return this.#older;
  }

  async #loadOlder(): Promise<void> {
    const first = this.#view.events[0]?.seq;
    if (first === undefined || !this.#view.hasOlder) return;
    const from = Math.max(0, first - 1 - PAGE);
    const { data } = await api.sessions.page(this.#id, { after: from, up_to: first - 1, limit: PAGE, clip: CLIP });
    // While it was on its way the oldest may have gone: what does not join on would leave a gap.
    if (this.#view.events[0]?.seq !== first) return;
    this.#set({ events: [...data, ...this.#view.events], hasOlder: from > 0 });
  }

  /** The last page of the log; gives the place it ends at. A server that restarts is waited for. */
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
    // What is stored is said no more; and nothing is being said when a turn is over, whatever was lost on the way.
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
    // Many at once are shown at once. A page in the background is painted never, and must go on all the same.
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
