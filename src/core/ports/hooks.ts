import type { Mode } from "../agent/agent-definition.ts";
import type { MessageContent, ToolContent } from "../events/content.ts";
import type { EventOf, ModelUsage, StopReason } from "../events/events.ts";
import type { HookCommand } from "../agent/hooks-schema.ts";
import type { SandboxPlan } from "../environment/sandbox.ts";

/**
 * Hooks for users: a program or an agent file can observe or change what happens. A hook that runs beforehand may
 * change or deny something; it can never allow what would otherwise be denied or need approval.
 */
export interface SessionHooks {
  /** Sees a message before it is saved and sent. */
  readonly beforePrompt?: OneOrMore<BeforePrompt>;
  /** Sees a tool call before permission is decided, so that rules and people see the input as the hook left it. */
  readonly beforeTool?: OneOrMore<BeforeTool>;
  /** Sees the outcome of a tool call. Finishes before the turn ends. */
  readonly afterTool?: OneOrMore<AfterTool>;
  /** Sees a turn that has ended. */
  readonly onTurnEnd?: OneOrMore<OnTurnEnd>;
  /** Called when this host closes the session. */
  readonly onSessionEnd?: OneOrMore<OnSessionEnd>;
}

type OneOrMore<Run> = Run | HookOptions<Run> | readonly (Run | HookOptions<Run>)[];

/** A function with its options. */
export interface HookOptions<Run> {
  readonly run: Run;
  /**
   * For the log: `hook:<name>` is the decider of a denial. Default: the kind of hook and its position, such as
   * `before_tool 1`.
   */
  readonly name?: string;
  /** For tool hooks: a permission rule such as `Bash(git push *)` for the calls to see (default: all). */
  readonly matcher?: string;
  /** Default: one minute. */
  readonly timeoutMs?: number;
  /** What happens to a message or a call if its hook throws, times out or returns an invalid answer (default: deny). */
  readonly onFailure?: "deny" | "continue";
}

export type BeforePrompt = (facts: PromptFacts) => Answer<PromptAnswer>;
export type BeforeTool = (facts: CallFacts) => Answer<ToolAnswer>;
/** The return value of hooks that run afterwards is ignored. */
export type AfterTool = (facts: ResultFacts) => unknown;
export type OnTurnEnd = (facts: TurnFacts) => unknown;
export type OnSessionEnd = (facts: SessionFacts) => unknown;

/** Undefined, or an object without fields: continue. */
type Answer<Said> = Said | undefined | Promise<Said | undefined>;

export type PromptAnswer =
  | { readonly deny: string }
  /** Replaces the message's text; images and documents stay. */
  | { readonly text: string }
  /** Appended to the message. */
  | { readonly add: string }
  /** Replaces the whole message. */
  | { readonly content: MessageContent }
  | Readonly<Record<string, never>>;

/** `deny` is the message for the model. `input` replaces the whole input. */
export type ToolAnswer =
  | { readonly deny: string }
  | { readonly input: Readonly<Record<string, unknown>> }
  | Readonly<Record<string, never>>;

interface HookFacts {
  readonly sessionId: string;
  readonly agent: string;
  readonly cwd: string;
  /** Aborts when the hook's answer is no longer needed: it timed out, or the turn was interrupted. */
  readonly signal: AbortSignal;
}

export interface PromptFacts extends HookFacts {
  /** The whole text of the message. */
  readonly text: string;
  readonly content: MessageContent;
}

export interface CallFacts extends HookFacts {
  readonly callId: string;
  readonly tool: string;
  /** As the previous hooks left it. */
  readonly input: Readonly<Record<string, unknown>>;
  /** The calling subagent; undefined on the primary thread. */
  readonly subagent: string | undefined;
  readonly mode: Mode;
}

export interface ResultFacts extends CallFacts {
  readonly outcome: NonNullable<EventOf<"agent.tool_result">["outcome"]>;
  /** What the model got. */
  readonly content: ToolContent;
  readonly isError: boolean;
}

export interface TurnFacts extends HookFacts {
  readonly stopReason: StopReason;
  /** All text of the agent on the primary thread. */
  readonly text: string;
  readonly usage: ModelUsage;
  /** List price; null if a model with an unknown price was used. */
  readonly usd: number | null;
}

export interface SessionFacts extends HookFacts {
  /** So far, like the other figures. */
  readonly turns: number;
  readonly toolCalls: number;
  readonly usage: ModelUsage;
  readonly usd: number;
}

/**
 * The port for hooks that are commands. Resolves when the command and everything it started have ended; kills them all
 * when `signal` aborts. Rejects if it can't be started.
 */
export type RunHookCommand = (command: HookCommand, surroundings: CommandSurroundings) => Promise<HookCommandEnd>;

export interface CommandSurroundings {
  /** The command's input. */
  readonly stdin: string;
  readonly cwd: string;
  /** The session's own directory, for the command's home. */
  readonly stateDir: string;
  /** How the session's commands, and so its hooks, are confined (default: not at all). */
  readonly sandbox?: SandboxPlan;
  readonly signal: AbortSignal;
}

export interface HookCommandEnd {
  /** Null if a signal ended it. */
  readonly exitCode: number | null;
  readonly stdout: string;
  /** Only its end. */
  readonly stderr: string;
}
