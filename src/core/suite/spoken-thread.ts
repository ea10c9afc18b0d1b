import type { RecordedAnswer } from "./cassette.ts";

/** What a model said on one thread of a session, according to its log. */
export interface SaidThread {
  /** Its name on a cassette: `main`, or `agent-1` and so on. */
  readonly thread: string;
  /** The engine's id of the subagent; undefined on the primary thread. */
  readonly engineAgentId: string | undefined;
  /** The subagent's first prompt. */
  readonly task: string | undefined;
  readonly answers: readonly RecordedAnswer[];
}
