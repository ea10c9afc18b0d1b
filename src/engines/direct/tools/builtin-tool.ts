import type { ToolContent } from "../../../core/events/content.ts";
import type { PathAccess, ToolTraits } from "../../../core/rules/subject.ts";

/** A tool that the engine implements. */
export interface BuiltinTool {
  readonly name: string;
  /** Sent to the model. */
  readonly description: string;
  /** JSON Schema of the input. The engine checks the input against it before it asks for permission. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly traits: ToolTraits;
  /** Its calls may run in parallel even though its traits do not say so. Grants no permission. */
  readonly isParallel?: boolean;
  /** Where the next call of a thread starts, for the permission decision; undefined for the workspace. */
  directoryOf?(threadId: string | undefined): string | undefined;
  /** Runs with the permitted input. Never rejects: every failure is an outcome. */
  run(input: Readonly<Record<string, unknown>>, call: BuiltinCall): Promise<BuiltinOutcome>;
}

export interface BuiltinCall {
  readonly callId: string;
  /** Aborts when the turn is interrupted. */
  readonly signal: AbortSignal;
  /** The thread of the subagent that makes the call; undefined on the primary thread. */
  readonly threadId: string | undefined;
  /** The decision's `places`. A file tool accesses exactly these, and fails without them. */
  readonly places?: readonly PathAccess[] | undefined;
  /** The decision's `directory`. A command starts only there (default: the workspace). */
  readonly directory?: string | undefined;
}

export interface BuiltinOutcome {
  readonly content: ToolContent;
  readonly isError: boolean;
  /** A file with the whole output, if `content` is only a part of it. */
  readonly outputFile?: string;
}

/** What a session's tools work with. */
export interface ToolDirectories {
  readonly sessionId: string;
  readonly cwd: string;
  /** The session's own directory. */
  readonly stateDir: string;
}

export function textOutcome(text: string, isError = false): BuiltinOutcome {
  return { content: [{ type: "text", text }], isError };
}
