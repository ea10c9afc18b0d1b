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

/** What a program gives a session beside its agent; none of it is stored. */
export interface SessionOptions<Output = unknown> {
  readonly tools?: readonly Tool[];
  /** Variables for the agent's commands and tools. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Answers what no rule decides. Without it such calls are denied. */
  readonly askPermission?: AskPermission;
  /** See and change what happens; beside the commands that the agent's own hooks are. */
  readonly hooks?: SessionHooks;
  /** Asks for structured output, checks and types it; takes the place of the agent's own output schema. */
  readonly output?: StandardSchema<unknown, Output>;
}

export interface StartOptions<Output = unknown> extends SessionOptions<Output> {
  readonly agent: AgentInput;
  /** What the agent must be told, by the names of its `inputs`. */
  readonly inputs?: InputValues;
  /** The directory that the agent works in, or that its workspace is made from. Only an empty workspace needs none. */
  readonly cwd?: string;
  /** Where and how it may work. Default: in that directory, with checkpoints and without a sandbox. */
  readonly environment?: EnvironmentInput;
  /** Told while files are copied into the workspace. */
  readonly onProgress?: PrepareOptions["onProgress"];
  /** Where the hosts of its repositories are, by `name:port`, when that was checked: git looks for no other address. */
  readonly hostAddresses?: PrepareOptions["hostAddresses"];
  /** Gives up making the workspace; what was made is removed. */
  readonly signal?: AbortSignal;
  readonly title?: string;
  /** The project it belongs to. Default: `default`. */
  readonly project?: string;
  readonly metadata?: Metadata;
  /** The stored agent and environment it is made from, when it is. */
  readonly agentRef?: SessionRecord["agentRef"];
  readonly environmentId?: string;
  /** Put into the workspace before the agent starts. Only for a workspace of the session's own. */
  readonly files?: readonly GivenFile[];
  /** What of the project's settings has no effect in it: for the log. */
  readonly withheld?: Omit<EventDraft<"capstan.settings_withheld">, "type"> | undefined;
  /** What the agent's programs were when a person's trust in them was looked up: SHA-256 by absolute path. */
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
  /** For a repository that is not public; kept nowhere. */
  readonly token?: string;
  readonly checkout: Extract<SessionResource, { type: "repository" }>["checkout"];
  /** Relative to the root of the workspace. */
  readonly mountPath: string;
}

/** What may be changed of a session from outside. A metadata value of null removes it. */
export interface SessionUpdate {
  readonly title?: string | null;
  readonly metadata?: Readonly<Record<string, string | null>>;
  /** In USD; null for no limit of the session's own. */
  readonly maxUsd?: number | null;
}

export interface ResumeOptions<Output = unknown> extends SessionOptions<Output> {
  /** Where the agent works from now on. Default: where it worked before. */
  readonly cwd?: string;
  /** What becomes of a turn that a crash cut off: it goes on by itself, or it is ended with an error. */
  readonly onCrash?: "continue" | "stop";
  /** What runs it from the next turn on. Default: what ran it before. */
  readonly engine?: EngineName;
  /** Limits in place of those the session has; what is left out stays as it is. In force until they are changed again. */
  readonly budget?: Budget;
}

export interface ForkOptions<Output = unknown> extends SessionOptions<Output> {
  /** The sequence number to fork at. Default: the last one. */
  readonly at?: number;
  /** Where the agent works, when the parent works in place. Default: where the parent does. */
  readonly cwd?: string;
}
