import type { StoredEvent } from "../events/events.ts";

/**
 * The events that form the conversation. A rewind removes everything after a position in the log, and rewinding to
 * before a rewind restores it: the log itself only grows.
 */
export function conversationOf<Known extends Pick<StoredEvent, "seq" | "event">>(
  events: readonly Known[],
): readonly Known[] {
  const at = events.findLastIndex(({ event }) => event.type === "capstan.rewound" && event.to_seq !== undefined);
  const rewound = events[at]?.event;
  if (rewound?.type !== "capstan.rewound") return events;
  const { to_seq: to = 0 } = rewound;
  return [...conversationOf(events.slice(0, at).filter(({ seq }) => seq <= to)), ...events.slice(at + 1)];
}
