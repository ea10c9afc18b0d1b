import type { ToolContent } from "../../../core/events/content.ts";
import type { PathAccess, ToolTraits } from "../../../core/rules/subject.ts";

/** A tool of the engine's own. */
export interface BuiltinTool {
  readonly name: string;
  /** What the model reads about it. */
  readonly description: string;
  /** JSON Schema of the input. The engine checks the input against it before it asks for permission. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly traits: ToolTraits;
  /** Calls of it may run side by side, although its traits do not say so. No reason to permit anything. */
  readonly isParallel?: boolean;
  /** Where the next call of a thread starts, for the decision about it; undefined for the workspace. */
  directoryOf?(threadId: string | undefined): string | undefined;
  /** Runs with the input as it was permitted. Never rejects: whatever goes wrong is an outcome. */
  run(input: Readonly<Record<string, unknown>>, call: BuiltinCall): Promise<BuiltinOutcome>;
}

export interface BuiltinCall {
  readonly callId: string;
  /** Aborts when the turn is interrupted. */
  readonly signal: AbortSignal;
  /** The thread of the subagent that makes the call; undefined on the primary line. */
  readonly threadId: string | undefined;
  /** The decision's `places`. A file tool works on exactly these, and fails without them. */
  readonly places?: readonly PathAccess[] | undefined;
  /** The decision's `directory`. A command starts there and nowhere else; absent, it starts in the workspace. */
  readonly directory?: string | undefined;
}

export interface BuiltinOutcome {
  readonly content: ToolContent;
  readonly isError: boolean;
  /** A file with the whole output, when `content` is only a part of it. */
  readonly outputFile?: string;
}

/** What a session's tools work with. */
export interface ToolPlace {
  readonly sessionId: string;
  readonly cwd: string;
  /** The session's own directory. */
  readonly stateDir: string;
}

export function textOutcome(text: string, isError = false): BuiltinOutcome {
  return { content: [{ type: "text", text }], isError };
}
