import type { ToolContent } from "../events/content.ts";
import type { ToolTraits } from "../rules/subject.ts";

/** A function of the host that an agent may call. Created by `defineTool` (tools/define-tool.ts). */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input, sent to the model. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly annotations: ToolAnnotations;
  /** It runs in a client, which returns its result. */
  readonly custom?: boolean;
  /** Never rejects: every failure is an outcome. */
  run(input: unknown, context: ToolContext): Promise<ToolOutcome>;
}

export interface ToolAnnotations {
  /** Changes nothing outside the agent. */
  readonly readOnly: boolean;
  /** May destroy something that can't be restored. */
  readonly destructive: boolean;
  /** Safe to run without asking in every mode, such as a built-in note-taking tool. */
  readonly safeInternal: boolean;
}

/** The traits of a host tool, for permission rules. */
export function traitsOfTool({ annotations: { readOnly, safeInternal }, custom }: Tool): ToolTraits {
  return { readOnly, safeInternal, edit: false, ...(custom === true && { custom }) };
}

export interface ToolContext {
  readonly sessionId: string;
  readonly callId: string;
  readonly cwd: string;
  /** This call's own directory, removed when the session ends. */
  readonly tempDir: string;
  /** The session's variables: never the host's environment. */
  readonly variables: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch; undefined if the turn has no deadline. */
  readonly deadline: number | undefined;
  /** What is left of the session's budget, for each limit that is set. */
  readonly budgetLeft: { readonly usd?: number; readonly tokens?: number; readonly toolCalls?: number };
  readonly signal: AbortSignal;
}

export interface ToolOutcome {
  readonly isError: boolean;
  /** Sent to the model. */
  readonly content: ToolContent;
  /** For the log, if there is more than the model gets: a stack trace, the part that was cut off. */
  readonly detail?: string;
}
