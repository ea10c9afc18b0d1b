import type { LoggedEvent, StopReason } from "../../core/events/events.ts";
import type { FileChange } from "../../core/ports/workspace.ts";

/** The results of a trial, for graders: its log is the truth, and its workspace still exists. */
export interface TrialFacts {
  readonly suiteFile: string;
  readonly sessionId: string;
  /** The root of the workspace, after the last turn. */
  readonly workspace: string;
  readonly events: readonly LoggedEvent[];
  readonly turns: readonly TrialTurnFacts[];
  readonly calls: readonly TrialCallFacts[];
  readonly changes: readonly Pick<FileChange, "path" | "kind">[];
  /** The same as a unified diff. */
  readonly diff: string;
  readonly usd: number | null;
  readonly tokens: {
    readonly input: number;
    readonly output: number;
    readonly cacheRead: number;
    readonly cacheCreation: number;
  };
  readonly requests: number;
  readonly durationMs: number;
}

export interface TrialTurnFacts {
  readonly input: string;
  readonly text: string;
  readonly output: unknown;
  /** A turn that is waiting has not ended. */
  readonly stopReason: Exclude<StopReason["type"], "requires_action">;
}

export interface TrialCallFacts {
  readonly id: string;
  /** The agent's name for it, such as `Bash` or `mcp__server__tool`. */
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** `main`, or the subagent's name. */
  readonly by: string;
  readonly outcome: "completed" | "failed" | "denied" | "aborted" | undefined;
  readonly result: string;
}
