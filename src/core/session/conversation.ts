import type { StoredEvent } from "../events/events.ts";

/**
 * The events that the conversation consists of. A rewind takes back what was said after a place in the log, and
 * rewinding to before a rewind brings it back: the log itself only ever grows.
 */
export function conversationOf(events: readonly StoredEvent[]): readonly StoredEvent[] {
  const at = events.findLastIndex(({ event }) => event.type === "capstan.rewound" && event.to_seq !== undefined);
  const rewound = events[at]?.event;
  if (rewound?.type !== "capstan.rewound") return events;
  const { to_seq: to = 0 } = rewound;
  return [...conversationOf(events.slice(0, at).filter(({ seq }) => seq <= to)), ...events.slice(at + 1)];
}
