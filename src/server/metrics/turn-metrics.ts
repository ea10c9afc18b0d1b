import type { Clock } from "../../core/ports/clock.ts";
import type { LoggedEvent, Preview } from "../../core/events/events.ts";
import { Histogram, type Metric } from "./metrics-text.ts";

/** In seconds. */
const FIRST_TEXT_BOUNDS = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Counts turns and measures the time to their first text, from the events of a host's sessions. */
export class TurnMetrics {
  readonly #clock: Clock;
  readonly #ended = new Map<string, number>();
  readonly #firstText = new Histogram(FIRST_TEXT_BOUNDS);
  /** Session → when it received a message that it has not answered yet, in milliseconds since the epoch. */
  readonly #asked = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Call this with every event and preview of every session that this host drives. */
  observe(sessionId: string, item: LoggedEvent | Preview): void {
    if (item.type === "user.message") this.#asked.set(sessionId, this.#asked.get(sessionId) ?? this.#clock.now());
    else if (isText(item)) this.#noteAnswer(sessionId);
    else if (item.type === "session.status_idle") {
      this.#asked.delete(sessionId);
      const reason = item.stop_reason.type;
      this.#ended.set(reason, (this.#ended.get(reason) ?? 0) + 1);
    }
  }

  metrics(): Metric[] {
    return [
      {
        name: "capstan_turns_total",
        help: "Turns that ended since the start of this process, by stop reason.",
        type: "counter",
        samples: [...this.#ended].map(([reason, value]) => ({ labels: { stop_reason: reason }, value })),
      },
      {
        name: "capstan_first_text_seconds",
        help: "Time from a message until the first text of the answer.",
        type: "histogram",
        samples: this.#firstText.samples(),
      },
    ];
  }

  #noteAnswer(sessionId: string): void {
    const asked = this.#asked.get(sessionId);
    if (asked === undefined) return;
    this.#asked.delete(sessionId);
    this.#firstText.add(Math.max(0, this.#clock.now() - asked) / 1_000);
  }
}

function isText(item: LoggedEvent | Preview): boolean {
  return item.type === "agent.message" || (item.type === "event_start" && item.event.type === "agent.message");
}
