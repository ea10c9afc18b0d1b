import type { ToolContent } from "../events/content.ts";
import type { ToolTraits } from "../rules/subject.ts";

/** A function of the host that an agent may call. Made by `defineTool` (tools/define-tool.ts). */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the input, as the model is told it. */
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly annotations: ToolAnnotations;
  /** It runs in a client, whose answer is its result. */
  readonly custom?: boolean;
  /** Never rejects: whatever goes wrong inside is an outcome. */
  run(input: unknown, context: ToolContext): Promise<ToolOutcome>;
}

export interface ToolAnnotations {
  /** Changes nothing outside the agent. */
  readonly readOnly: boolean;
  /** May destroy something that cannot be brought back. */
  readonly destructive: boolean;
  /** Safe to run without asking in every mode, such as a note-taking tool of our own. */
  readonly safeInternal: boolean;
}

/** What permission rules want to know of a tool of the host. */
export function traitsOfTool({ annotations: { readOnly, safeInternal }, custom }: Tool): ToolTraits {
  return { readOnly, safeInternal, edit: false, ...(custom === true && { custom }) };
}

export interface ToolContext {
  readonly sessionId: string;
  readonly callId: string;
  readonly cwd: string;
  /** A directory of this call's own, removed when the session ends. */
  readonly tempDir: string;
  /** The session's variables: never the host's environment. */
  readonly variables: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch; undefined when the turn has no deadline. */
  readonly deadline: number | undefined;
  /** What is left of the session's budget, per limit that is set. */
  readonly budgetLeft: { readonly usd?: number; readonly tokens?: number; readonly toolCalls?: number };
  readonly signal: AbortSignal;
}

export interface ToolOutcome {
  readonly isError: boolean;
  /** What the model is told. */
  readonly content: ToolContent;
  /** What the log keeps when it is more than the model is told: a stack, the part that was cut off. */
  readonly detail?: string;
}
