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
 * The port for what runs the agent loop. An engine says what happened; the runtime alone decides permission, budget
 * and persistence. What an engine lacks it declares in `capabilities`.
 */
export interface Engine {
  readonly name: EngineName;
  readonly version: string;
  /** The runtime refuses an agent that asks for what these say is lacking, before `validate`. */
  readonly capabilities: EngineCapabilities;
  /**
   * Throws when no process could be started for such a session: an unknown tool, a missing directory, a sandbox that is
   * required and that this machine does not have. `matchers` are the rules of hooks; like the agent's own they must speak
   * of tools that exist.
   */
  validate(
    request: Pick<EngineRequest, "agent" | "cwd" | "tools"> &
      Partial<Pick<EngineRequest, "sandbox" | "limits">> & { readonly matchers?: readonly string[] },
  ): void;
  /** Makes the session ready for its first message, in a process of its own where the engine needs one. Rejects with an `engine_*` or `cwd_missing` error. */
  open(request: EngineRequest, host: EngineHost): Promise<EngineSession>;
}

/** The engines of a host. Each is loaded when a session first needs it, so that no session waits for another's. */
export interface Engines {
  /** For agents that name none. */
  readonly default: EngineName;
  /** Rejects with `engine_missing` when this machine or this build does not have it. */
  load(name: EngineName): Promise<Engine>;
}

export interface EngineRequest {
  readonly sessionId: string;
  readonly agent: AgentDefinition;
  readonly model: string;
  readonly mode: Mode;
  readonly cwd: string;
  /** A directory of the session's own for the engine's home, configuration and temporary files. */
  readonly stateDir: string;
  /** Variables the agent's commands see, besides the few the engine itself needs. */
  readonly variables: Readonly<Record<string, string>>;
  readonly gateway: Pick<GatewayAccess, "url" | "token" | "isPlain" | "billing">;
  /** What commands, file tools and MCP servers are kept from. Absent: nothing. */
  readonly sandbox?: SandboxPlan;
  /** What the files of each MCP server must hold when it is started: SHA-256 by absolute path. Absent: anything. */
  readonly serverFiles?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Of all processes of the session together. Absent: none. */
  readonly limits?: ProcessLimits;
  readonly tools: readonly Tool[];
  readonly transcripts: TranscriptStore;
  /** The conversation so far, from the log. The engine's transcript is made to agree with it. */
  readonly history: readonly HistoryItem[];
  /** Subagents that were started before; one of them may be spoken to again. */
  readonly subagents: readonly StartedSubagent[];
  /** The conversation of a subagent's thread so far, from the log. */
  readonly lineHistory: (threadId: string) => Promise<readonly HistoryItem[]>;
  /** What the process does at its start, before any message. */
  readonly start: EngineStart;
  /** Set when the process drives a subagent's line alone; `history` is then that line's. */
  readonly line?: SubagentLine;
  /** Aborts when nobody waits for the process any more: what there is of it is ended, and `open` rejects. */
  readonly signal?: AbortSignal;
}

export type EngineStart =
  /** Waits for a message. */
  | { readonly kind: "wait" }
  /** Goes on with the turn that was cut. */
  | { readonly kind: "continue" }
  /** Runs this one call of the last answer, which had to wait for a person, and ends the turn there. */
  | { readonly kind: "call"; readonly callId: string };

/** A subagent whose process is gone and that still has work to do. */
export interface SubagentLine {
  readonly threadId: string;
  readonly name: string;
}

export interface StartedSubagent {
  readonly engineAgentId: string;
  readonly name: string;
  /** The call that started it. */
  readonly callId: string;
}

/** What the runtime offers an engine. Every method is awaited, which gives order and back-pressure. */
export interface EngineHost {
  newEventId(): string;
  emit(fact: EngineFact): Promise<void>;
  /** The prepare stage of every tool call. Never rejects: an error inside is a denial. */
  prepare(call: CallRequest, signal: AbortSignal): Promise<CallDecision>;
  /** A server wants to know something from a person while one of its tools runs. Never rejects. */
  elicit(question: Elicitation, signal: AbortSignal): Promise<ElicitationAnswer>;
  /** The execute stage of a tool that lives in the host. */
  execute(
    call: { readonly tool: Tool; readonly callId: string; readonly input: unknown },
    signal: AbortSignal,
  ): Promise<ToolOutcome>;
}

/** What an MCP server asks a person: values for the fields of a form, or to go to an address. */
export interface Elicitation {
  readonly server: string;
  readonly message: string;
  readonly requested:
    | { readonly kind: "form"; readonly schema: Readonly<Record<string, unknown>> }
    | { readonly kind: "url"; readonly url: string };
}

export type ElicitationAnswer =
  | { readonly action: "accept"; readonly content: Readonly<Record<string, ElicitedValue>> }
  /** A person said no, … */
  | { readonly action: "decline" }
  /** … or nobody said anything. */
  | { readonly action: "cancel" };

export type ElicitedValue = string | number | boolean | string[];

export interface CallRequest {
  readonly callId: string;
  /** The tool's name as users write it. */
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** What the tool can do; where it does it is for the runtime to see. */
  readonly traits: ToolTraits;
  /**
   * Where a command starts when that is not the workspace: within it, without links. The call is decided as a command
   * that begins with `cd` to there.
   */
  readonly directory?: string;
  /** Directories in which the engine keeps results of this session that it told the model to read. */
  readonly readable?: readonly string[];
  /** The process that makes the call runs its commands in a sandbox. What the machine could do is another question. */
  readonly confined?: boolean;
}

export type CallDecision =
  | {
      readonly behavior: "allow";
      readonly input?: Record<string, unknown>;
      /**
       * The files and directories that were decided about, links followed. A tool that runs in the host opens these and
       * nothing else: the links may lead elsewhere by now.
       */
      readonly places?: readonly PathAccess[];
      /** Where the command was decided to start; absent for the workspace. It may start nowhere else. */
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
      /** A file with the whole output, when `content` is only a part of it. */
      readonly outputFile?: string | undefined;
    }
  /** The engine took these messages into the conversation. */
  | { readonly kind: "delivered"; readonly eventIds: readonly string[] }
  | { readonly kind: "turn_ended"; readonly end: TurnEnd }
  /**
   * The process is gone; no other fact follows. An error `limit_reached` says that it was ended because its session used
   * more than the environment's limits allow; its data are those of a `LimitHit`.
   */
  | { readonly kind: "lost"; readonly error: CapstanError; readonly stderr: string };

export interface TurnEnd {
  readonly outcome: "completed" | "interrupted" | "refused" | "failed" | "steps" | "budget";
  /** For `steps` and `budget` a limit of the agent's own budget ended the turn; for `failed` this says what went wrong. */
  readonly error?: CapstanError;
  readonly output?: unknown;
  /** What the engine counted since its last report, per model. */
  readonly usage: Readonly<Record<string, { input_tokens: number; output_tokens: number; usd: number }>>;
}

export interface EngineSession {
  /** Of the process that the session has for itself. Absent: it runs in the host. */
  readonly pid?: number;
  /** How it came to its history: nothing to know, its own transcript, or one rebuilt from the log. */
  readonly history: "new" | "resumed" | "reseeded";
  /** Whether the process and all it starts are sure to die with the host. */
  readonly contained: boolean;
  /** Whether its commands are confined. Absent: they are not. `unavailable`: they should be, and the machine has no sandbox. */
  readonly sandbox?: "on" | "off" | "unavailable";
  /** For `unavailable`: why, and what to do about it. */
  readonly sandboxMissing?: string;
  /** What runs outside the sandbox although there is one: names of MCP servers, and patterns of commands. */
  readonly outside?: readonly string[];
  /** Takes a message now, or after the step under way. `delivered` tells when. */
  send(message: { readonly eventId: string; readonly content: MessageContent }): void;
  /** Ends the turn under way and keeps its work; resolves when the engine has stopped calling tools and models. */
  interrupt(): Promise<void>;
  /** Ends the process and everything it started. An interrupted turn must be over before. */
  close(): Promise<void>;
  /** Ends everything at once, without a word. */
  kill(): void;
  setModel?(model: string): Promise<void>;
  setMode?(mode: Mode): Promise<void>;
  /** Compacts the context as a turn of its own. */
  compact?(): void;
}
