import type { Mode } from "../agent/agent-definition.ts";
import type { MessageContent, ToolContent } from "../events/content.ts";
import type { EventOf, ModelUsage, StopReason } from "../events/events.ts";
import type { HookCommand } from "../agent/hooks-schema.ts";
import type { SandboxPlan } from "../environment/sandbox.ts";

/**
 * Hooks for users: what a program or an agent file wants to see or change as it happens. A hook before something may
 * change it or deny it; it can never allow what would be denied or asked about without it.
 */
export interface SessionHooks {
  /** Sees a message before it is stored and sent. */
  readonly beforePrompt?: OneOrMore<BeforePrompt>;
  /** Sees a tool call before permission is decided, so that rules and people see the input as it left it. */
  readonly beforeTool?: OneOrMore<BeforeTool>;
  /** Sees the outcome of a tool call. Is done before the turn ends. */
  readonly afterTool?: OneOrMore<AfterTool>;
  /** Sees a turn that is over. */
  readonly onTurnEnd?: OneOrMore<OnTurnEnd>;
  /** Called when this host lets go of the session. */
  readonly onSessionEnd?: OneOrMore<OnSessionEnd>;
}

type OneOrMore<Run> = Run | HookOptions<Run> | readonly (Run | HookOptions<Run>)[];

/** A function with what there is to say about it. */
export interface HookOptions<Run> {
  readonly run: Run;
  /** For the log: `hook:<name>` is who denied. Default: the kind of hook and its place, such as `before_tool 1`. */
  readonly name?: string;
  /** A permission rule such as `Bash(git push *)`: the calls to be seen. For hooks on tools. Default: all. */
  readonly matcher?: string;
  /** Default: a minute. */
  readonly timeoutMs?: number;
  /** What becomes of a message or a call whose hook threw, was late or answered nonsense. Default: it is denied. */
  readonly onFailure?: "deny" | "continue";
}

export type BeforePrompt = (facts: PromptFacts) => Answer<PromptAnswer>;
export type BeforeTool = (facts: CallFacts) => Answer<ToolAnswer>;
/** What hooks after the fact return is not looked at. */
export type AfterTool = (facts: ResultFacts) => unknown;
export type OnTurnEnd = (facts: TurnFacts) => unknown;
export type OnSessionEnd = (facts: SessionFacts) => unknown;

/** Undefined, or an object without fields: go on. */
type Answer<Said> = Said | undefined | Promise<Said | undefined>;

export type PromptAnswer =
  | { readonly deny: string }
  /** In place of the message's text; images and documents stay. */
  | { readonly text: string }
  /** After everything else. */
  | { readonly add: string }
  /** In place of the whole message. */
  | { readonly content: MessageContent }
  | Readonly<Record<string, never>>;

/** `deny` is what the model is told. `input` takes the place of the whole input. */
export type ToolAnswer =
  | { readonly deny: string }
  | { readonly input: Readonly<Record<string, unknown>> }
  | Readonly<Record<string, never>>;

interface HookFacts {
  readonly sessionId: string;
  readonly agent: string;
  readonly cwd: string;
  /** Aborts when nobody waits for the hook any more: it was late, or the turn was interrupted. */
  readonly signal: AbortSignal;
}

export interface PromptFacts extends HookFacts {
  /** All text of the message. */
  readonly text: string;
  readonly content: MessageContent;
}

export interface CallFacts extends HookFacts {
  readonly callId: string;
  readonly tool: string;
  /** As the hooks before this one left it. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The subagent that calls; undefined on the primary line. */
  readonly subagent: string | undefined;
  readonly mode: Mode;
}

export interface ResultFacts extends CallFacts {
  readonly outcome: NonNullable<EventOf<"agent.tool_result">["outcome"]>;
  /** What the model was told. */
  readonly content: ToolContent;
  readonly isError: boolean;
}

export interface TurnFacts extends HookFacts {
  readonly stopReason: StopReason;
  /** All the agent said on the primary line. */
  readonly text: string;
  readonly usage: ModelUsage;
  /** List price; null when a model without a known price was asked. */
  readonly usd: number | null;
}

export interface SessionFacts extends HookFacts {
  /** So far, as are the others. */
  readonly turns: number;
  readonly toolCalls: number;
  readonly usage: ModelUsage;
  readonly usd: number;
}

/**
 * The port for hooks that are commands. Resolves when the command has ended, and then nothing that it started is left;
 * it is killed with all of that when `signal` aborts. Rejects when it cannot be started.
 */
export type RunHookCommand = (command: HookCommand, surroundings: CommandSurroundings) => Promise<CommandEnd>;

export interface CommandSurroundings {
  /** What the command reads. */
  readonly stdin: string;
  readonly cwd: string;
  /** The session's own directory, for the command's home. */
  readonly stateDir: string;
  /** What the session's commands are kept from, and so its hooks. Absent: nothing. */
  readonly sandbox?: SandboxPlan;
  readonly signal: AbortSignal;
}

export interface CommandEnd {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly stdout: string;
  /** The end of it. */
  readonly stderr: string;
}
