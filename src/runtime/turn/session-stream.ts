import { CapstanError } from "../../core/errors.ts";
import type { LoggedEvent, Preview } from "../../core/events/events.ts";
import type { FeedItem } from "../log/feed.ts";
import type { SessionBasics, SessionHold } from "../session-deps.ts";
import { Turn } from "./turn.ts";

type Deps = Pick<SessionBasics, "record" | "store" | "log"> & Pick<SessionHold, "feed">;

/** What a session reports to those who follow it in this program. */
export class SessionStream {
  readonly #deps: Deps;
  /** Aborts when the session ends here; its reason is an error when that was not intended. */
  readonly #ending = new AbortController();
  /** Aborts when the turn under way is lost together with its log; another replaces it then. */
  #failing = new AbortController();

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  /** Every event after `after`, then new ones, until `signal` aborts or the session is closed. */
  async *events(options: {
    readonly after?: number;
    readonly signal?: AbortSignal;
  }): AsyncGenerator<LoggedEvent | Preview> {
    const signals = [this.#ending.signal, ...(options.signal === undefined ? [] : [options.signal])];
    yield* this.#subscribe(options.after ?? 0, signals);
  }

  /** From the message that `sent` stored until the session is idle. */
  follow<Output>(sent: Promise<number>): Turn<Output> {
    // Avoid an unhandled rejection if the caller never looks at the turn.
    sent.catch(() => {});
    const signals = this.#signals;
    const subscribe = this.#subscribe.bind(this);
    async function* stream(): AsyncGenerator<LoggedEvent | Preview> {
      for await (const item of subscribe(await sent, signals)) {
        yield item;
        if (item.type === "session.status_idle") return;
      }
      const reason: unknown = signals.find((signal) => signal.aborted)?.reason;
      if (reason instanceof CapstanError) throw reason;
    }
    return new Turn(stream);
  }

  /** Resolves when the session is idle; rejects when the turn is lost together with its log. */
  async waitForIdle(): Promise<void> {
    const signals = this.#signals;
    for await (const item of this.#subscribe(0, signals))
      if (item.type === "session.status_idle" && this.#deps.log.state.status === "idle") return;
    throw signals.find((signal) => signal.aborted)?.reason;
  }

  /** The turn under way is lost together with its log. Its followers get the error. */
  fail(error: CapstanError): void {
    this.#failing.abort(error);
    this.#failing = new AbortController();
  }

  /** The session ends here; with an error when that was not intended. */
  end(error?: CapstanError): void {
    this.#ending.abort(error);
  }

  get #signals(): readonly AbortSignal[] {
    return [this.#ending.signal, this.#failing.signal];
  }

  #subscribe(after: number, signals: readonly AbortSignal[]): AsyncGenerator<FeedItem> {
    const { feed, store, record } = this.#deps;
    const signal = AbortSignal.any([...signals]);
    return feed.subscribe(store, { sessionId: record.id, after, signal, live: () => true });
  }
}
