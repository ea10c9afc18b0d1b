import { CASSETTE_FORMAT, type Cassette, type RecordedAnswer, type RecordedNews } from "../../core/suite/cassette.ts";
import type { SaidThread } from "../../core/suite/spoken-thread.ts";
import { mapTexts, placeholdersOf } from "./placeholders.ts";

/** Replaces what a log does not have: the exact request. */
const UNKNOWN = "unknown";

/**
 * A cassette with the answers of a session but no requests, except for the tasks that identify subagents. It replays if
 * drift is accepted; a recording made meanwhile is complete.
 */
export function cassetteFromSaid(
  said: readonly SaidThread[],
  values: Readonly<Record<string, string>>,
  about: Pick<Cassette, "suite" | "case" | "recorded">,
): Cassette {
  const places = placeholdersOf(values, []);
  for (const { engineAgentId, thread } of said) if (engineAgentId !== undefined) places.name(engineAgentId, thread);
  const threads = said.flatMap(({ thread, task, answers, engineAgentId }) =>
    answers.length === 0
      ? []
      : [
          {
            session: "case",
            thread,
            class: engineAgentId === undefined ? "main" : "subagent",
            exchanges: answers.map((answer, index) => ({
              model: UNKNOWN,
              instructions: UNKNOWN,
              tools: UNKNOWN,
              settings: {},
              news: index === 0 && task !== undefined ? [taskMessage(places.normalise(task))] : [],
              answer: mapTexts(answer, places.hide) as RecordedAnswer,
            })),
          },
        ],
  );
  return { format: CASSETTE_FORMAT, trial: 1, ...about, texts: { [UNKNOWN]: null }, threads };
}

function taskMessage(text: string): RecordedNews {
  return { role: "user", content: [{ type: "text", text }] };
}
