import type { AgentInput, Budget } from "../core/agent/agent-definition.ts";
import type { InputValues } from "../core/agent/agent-inputs.ts";
import type { EngineName } from "../core/agent/engine-name.ts";
import type { EnvironmentInput } from "../core/environment/environment.ts";
import type { PrepareOptions } from "../core/ports/workspace.ts";
import type { AskPermission } from "../core/session/approval.ts";
import type { EventDraft } from "../core/events/events.ts";
import type { SessionHooks } from "../core/ports/hooks.ts";
import type { StandardSchema } from "../core/agent/standard-schema.ts";
import type { Metadata } from "../core/ports/registry.ts";
import type { SessionRecord, SessionResource } from "../core/ports/store.ts";
import type { Tool } from "../core/ports/tool.ts";

/** What a program gives a session besides its agent. None of it is stored. */
export interface SessionOptions<Output = unknown> {
  readonly tools?: readonly Tool[];
  /** Variables for the agent's commands and tools. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Answers calls that no rule decides. Without it they wait for an answer in the inbox. */
  readonly askPermission?: AskPermission;
  /** Functions that see and change what happens, in addition to the agent's own hooks, which are commands. */
  readonly hooks?: SessionHooks;
  /** Asks for structured output, checks and types it. Replaces the agent's own output schema. */
  readonly output?: StandardSchema<unknown, Output>;
}

export interface StartOptions<Output = unknown> extends SessionOptions<Output> {
  readonly agent: AgentInput;
  /** Values for the agent's `inputs`, by name. */
  readonly inputs?: InputValues;
  /** The directory that the agent works in, or that its workspace is created from. Only an empty workspace needs none. */
  readonly cwd?: string;
  /** Where and how it may work (default: in that directory, with checkpoints and without a sandbox). */
  readonly environment?: EnvironmentInput;
  /** Called while files are copied into the workspace. */
  readonly onProgress?: PrepareOptions["onProgress"];
  /** Checked addresses of its repositories' hosts, by `name:port`: git uses no other address. */
  readonly hostAddresses?: PrepareOptions["hostAddresses"];
  /** Stops creating the workspace, and removes what was created. */
  readonly signal?: AbortSignal;
  readonly title?: string;
  /** The project it belongs to (default: `default`). */
  readonly project?: string;
  readonly metadata?: Metadata;
  /** The stored agent and environment it is created from, if any. */
  readonly agentRef?: SessionRecord["agentRef"];
  readonly environmentId?: string;
  /** Files to put into the workspace before the agent starts. Only for a workspace of the session's own. */
  readonly files?: readonly GivenFile[];
  /** The project's settings that have no effect in it, for the log. */
  readonly withheld?: Omit<EventDraft<"capstan.settings_withheld">, "type"> | undefined;
  /** The agent's programs as they were when their trust was checked: SHA-256 by absolute path. */
  readonly programs?: Readonly<Record<string, string>> | undefined;
  readonly repositories?: readonly GivenRepository[];
}

/** A file of the host that becomes a part of a session's workspace. */
export interface GivenFile {
  readonly fileId: string;
  /** Where its content is on the host. */
  readonly path: string;
  /** Relative to the root of the workspace. */
  readonly mountPath: string;
}

/** A repository that is cloned into a session's workspace. */
export interface GivenRepository {
  readonly url: string;
  /** For a repository that is not public. Never stored. */
  readonly token?: string;
  readonly checkout: Extract<SessionResource, { type: "repository" }>["checkout"];
  /** Relative to the root of the workspace. */
  readonly mountPath: string;
}

/** What may be changed about a session from outside. A metadata value of null removes it. */
export interface SessionUpdate {
  readonly title?: string | null;
  readonly metadata?: Readonly<Record<string, string | null>>;
  /** In USD; null for no limit of the session's own. */
  readonly maxUsd?: number | null;
}

export interface ResumeOptions<Output = unknown> extends SessionOptions<Output> {
  /** Where the agent works from now on (default: where it worked before). */
  readonly cwd?: string;
  /** Whether a turn that a crash cut off continues by itself or ends with an error (default: `continue`). */
  readonly onCrash?: "continue" | "stop";
  /** The engine from the next turn on (default: the engine before). */
  readonly engine?: EngineName;
  /** Replaces the session's limits; those left out stay as they are. In force until changed again. */
  readonly budget?: Budget;
}

export interface ForkOptions<Output = unknown> extends SessionOptions<Output> {
  /** The sequence number to fork at (default: the last one). */
  readonly at?: number;
  /** Where the agent works if the parent works in place (default: where the parent works). */
  readonly cwd?: string;
}
