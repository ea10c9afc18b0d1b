import type { Elicitation, ElicitationAnswer } from "../session/elicitation.ts";
import type { AgentDefinition, Mode } from "../agent/agent-definition.ts";
import type { MessageContent, ToolContent } from "../events/content.ts";
import type { ProcessLimits } from "../environment/environment.ts";
import type { EngineName } from "../agent/engine-name.ts";
import type { EngineCapabilities } from "./engine-capabilities.ts";
import type { CapstanError } from "../errors.ts";
import type { EventDraft, Preview } from "../events/events.ts";
import type { GatewayAccess } from "./gateway.ts";
import type { HistoryItem } from "../session/history.ts";
import type { SandboxPlan } from "../environment/sandbox.ts";
import type { TranscriptStore } from "./store.ts";
import type { PathAccess, ToolTraits } from "../rules/subject.ts";
import type { Tool, ToolOutcome } from "./tool.ts";

/**
 * The port for engines, which run the agent loop. An engine reports what happened; only the runtime decides permission,
 * budget and persistence. An engine declares what it lacks in `capabilities`.
 */
export interface Engine {
  readonly name: EngineName;
  readonly version: string;
  /** The runtime refuses an agent that needs a missing capability, before `validate`. */
  readonly capabilities: EngineCapabilities;
  /**
   * Throws if no process could be started for such a session: an unknown tool, a missing directory, a required sandbox
   * that this machine does not have. `matchers` are the rules of hooks; like the agent's rules, they must name tools
   * that exist.
   */
  validate(
    request: Pick<EngineRequest, "agent" | "cwd" | "tools"> &
      Partial<Pick<EngineRequest, "sandbox" | "limits">> & { readonly matchers?: readonly string[] },
  ): void;
  /**
   * Prepares the session for its first message, in its own process if the engine needs one. Rejects with an `engine_*`
   * or `cwd_missing` error.
   */
  open(request: EngineRequest, host: EngineHost): Promise<EngineSession>;
}

/** The engines of a host. Each is loaded when a session first needs it, so that no session waits for another's. */
export interface Engines {
  /** For agents that name none. */
  readonly default: EngineName;
  /** Rejects with `engine_missing` if this machine or build does not have it. */
  load(name: EngineName): Promise<Engine>;
}

export interface EngineRequest {
  readonly sessionId: string;
  readonly agent: AgentDefinition;
  readonly model: string;
  readonly mode: Mode;
  readonly cwd: string;
  /** The session's own directory for the engine's home, configuration and temporary files. */
  readonly stateDir: string;
  /** Variables for the agent's commands, besides the few that the engine needs. */
  readonly variables: Readonly<Record<string, string>>;
  readonly gateway: Pick<GatewayAccess, "url" | "token" | "ask" | "isPlain" | "billing">;
  /** How commands, file tools and MCP servers are confined (default: not at all). */
  readonly sandbox?: SandboxPlan;
  /** The required content of each MCP server's files when it starts: SHA-256 by absolute path (default: anything). */
  readonly serverFiles?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** For all processes of the session together (default: none). */
  readonly limits?: ProcessLimits;
  readonly tools: readonly Tool[];
  readonly transcripts: TranscriptStore;
  /** The conversation so far, from the log. The engine's transcript is reconciled with it. */
  readonly history: readonly HistoryItem[];
  /** Subagents that were started before and may get further messages. */
  readonly subagents: readonly StartedSubagent[];
  /** The conversation of a subagent's thread so far, from the log. */
  readonly lineHistory: (threadId: string) => Promise<readonly HistoryItem[]>;
  /** What the process does at its start, before any message. */
  readonly start: EngineStart;
  /** Set if the process drives a single subagent's thread; `history` is then that thread's. */
  readonly line?: SubagentLine;
  /** Aborts when the process is no longer needed: it is ended, and `open` rejects. */
  readonly signal?: AbortSignal;
}

export type EngineStart =
  /** Waits for a message. */
  | { readonly kind: "wait" }
  /** Continues the interrupted turn. */
  | { readonly kind: "continue" }
  /** Runs this one call of the last answer, which waited for a person, and ends the turn there. */
  | { readonly kind: "call"; readonly callId: string };

/** A subagent whose process has ended and that still has work to do. */
export interface SubagentLine {
  readonly threadId: string;
  readonly name: string;
}

export interface StartedSubagent {
  readonly engineAgentId: string;
  readonly name: string;
  /** The call that started it. */
  readonly callId: string;
  /** Its depth below the primary thread, whose subagents have 1. */
  readonly depth: number;
}

/** What the runtime offers an engine. Every method is awaited, which gives order and back-pressure. */
export interface EngineHost {
  newEventId(): string;
  emit(fact: EngineFact): Promise<void>;
  /** The prepare stage of every tool call. Never rejects: an internal error is a denial. */
  prepare(call: CallRequest, signal: AbortSignal): Promise<CallDecision>;
  /** A server asks a person something while one of its tools runs. Never rejects. */
  elicit(question: Elicitation, signal: AbortSignal): Promise<ElicitationAnswer>;
  /** The execute stage of a host tool. */
  execute(
    call: { readonly tool: Tool; readonly callId: string; readonly input: unknown },
    signal: AbortSignal,
  ): Promise<ToolOutcome>;
}

export interface CallRequest {
  readonly callId: string;
  /** The tool's name as users write it. */
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** What the tool can do; the runtime determines where. */
  readonly traits: ToolTraits;
  /**
   * Where a command starts, if not in the workspace: a directory within it, with links resolved. The call is decided as
   * a command that starts with `cd` to it.
   */
  readonly directory?: string;
  /** Directories with results of this session that the engine told the model to read. */
  readonly readable?: readonly string[];
  /** The calling process runs its commands in a sandbox. Says nothing about what the machine supports. */
  readonly confined?: boolean;
}

export type CallDecision =
  | {
      readonly behavior: "allow";
      readonly input?: Record<string, unknown>;
      /**
       * The files and directories that the decision is about, with links resolved. A tool that runs in the host opens
       * only these: the links may have changed.
       */
      readonly places?: readonly PathAccess[];
      /** Where the command must start (default: the workspace). */
      readonly directory?: string;
    }
  | { readonly behavior: "deny"; readonly message: string };

export type EngineFact =
  | { readonly kind: "event"; readonly draft: EventDraft }
  | { readonly kind: "preview"; readonly preview: Preview }
  | {
      readonly kind: "tool_result";
      readonly callId: string;
      readonly content: ToolContent;
      readonly isError: boolean;
      /** A file with the whole output, if `content` is only a part of it. */
      readonly outputFile?: string | undefined;
    }
  /** The engine added these messages to the conversation. */
  | { readonly kind: "delivered"; readonly eventIds: readonly string[] }
  | { readonly kind: "turn_ended"; readonly end: TurnEnd }
  /**
   * The process has ended; no other fact follows. The error `limit_reached` means that the session exceeded the
   * environment's limits; its data are those of a `LimitHit`.
   */
  | { readonly kind: "lost"; readonly error: CapstanError; readonly stderr: string };

export interface TurnEnd {
  readonly outcome: "completed" | "interrupted" | "refused" | "failed" | "steps" | "budget";
  /**
   * For `steps` and `budget`, a limit of the agent's budget ended the turn; for `failed`, this says what went wrong.
   */
  readonly error?: CapstanError;
  readonly output?: unknown;
  /** What the engine counted since its last report, per model. */
  readonly usage: Readonly<Record<string, { input_tokens: number; output_tokens: number; usd: number }>>;
}

export interface EngineSession {
  /** Of the session's own process. Absent: it runs in the host. */
  readonly pid?: number;
  /** Where its history came from: none needed, its own transcript, or rebuilt from the log. */
  readonly history: "new" | "resumed" | "reseeded";
  /** Whether the process and everything it starts are guaranteed to end with the host. */
  readonly contained: boolean;
  /**
   * Whether its commands are confined (default: `off`). `unavailable`: they should be, but the machine has no sandbox.
   */
  readonly sandbox?: "on" | "off" | "unavailable";
  /** For `unavailable`: why, and what to do about it. */
  readonly sandboxMissing?: string;
  /** What runs outside an active sandbox: names of MCP servers, and patterns of commands. */
  readonly outside?: readonly string[];
  /** Accepts a message now, or after the current step. `delivered` reports when. */
  send(message: { readonly eventId: string; readonly content: MessageContent }): void;
  /** Ends the current turn and keeps its work; resolves when the engine has stopped calling tools and models. */
  interrupt(): Promise<void>;
  /** Ends the process and everything it started. An interrupted turn must have ended before. */
  close(): Promise<void>;
  /** Kills everything at once, without further events. */
  kill(): void;
  setModel?(model: string): Promise<void>;
  setMode?(mode: Mode): Promise<void>;
  /** Compacts the context as a separate turn. */
  compact?(): void;
}
