import type { RecordedAnswer } from "./cassette.ts";

/** What a model said on one line of a session, as its log has it. */
export interface SaidThread {
  /** Its name on a cassette: `main`, or `agent-1` and so on. */
  readonly thread: string;
  /** The engine's id of the subagent; undefined on the primary line. */
  readonly engineAgentId: string | undefined;
  /** What the subagent was told to do first. */
  readonly task: string | undefined;
  readonly answers: readonly RecordedAnswer[];
}
