import type { AgentDefinition, Mode } from "../../../core/agent/agent-definition.ts";
import type { MessageContent } from "../../../core/events/content.ts";
import type { EngineName } from "../../../core/agent/engine-name.ts";
import type { SessionRecord } from "../../../core/ports/store.ts";
import type { OtherTurns, Settling } from "../../run/abandoned.ts";
import type { Asking } from "../../ask/ask.ts";
import type { Followed, FollowedHost } from "../../target/followed-session.ts";
import type { SessionList } from "../../target/session-id.ts";
import type { CommandFiles } from "../../target/workspaces-session.ts";

/** A session that somebody chats with: driven by this process, or on a server. */
export interface ChatSession extends Pick<Followed, "id" | "events" | "interrupt"> {
  readonly record: SessionRecord;
  /** What a person should know of the workspace that was made. */
  readonly notes: readonly string[];
  /** Resolves when the message is stored; what becomes of it is for the events to tell. */
  post(content: string | MessageContent): Promise<void>;
  compact(): Promise<void>;
  setEngine(engine: EngineName): Promise<void>;
  setModel(model: string): Promise<void>;
  setMode(mode: Mode): Promise<void>;
  /** Gives it free; the session itself stays. */
  leave(): Promise<void>;
}

/** Which session is wanted. */
export type Wanted =
  | { readonly kind: "new" }
  | { readonly kind: "resume"; readonly id: string }
  | { readonly kind: "fork"; readonly id: string };

export interface OpenOptions {
  readonly asking: Asking;
  readonly signal: AbortSignal;
  /** Told how far a copy of files is. */
  readonly onProgress: (text: string) => void;
  /** Called when a server does not answer and is tried again; with "" when it answers again. */
  readonly onTrouble: (text: string) => void;
}

/** Where the sessions of a chat are: in this process, or on a server. */
export interface ChatHost extends FollowedHost, SessionList, AsyncDisposable {
  readonly files: CommandFiles;
  /** The agent of sessions that are started here; undefined where only the server knows it. */
  readonly agent: AgentDefinition | undefined;
  /** The project of sessions that are started here. */
  readonly project: string;
  /** Where sessions are started here; undefined on a server. */
  readonly directory: string | undefined;
  /** What is started here talks with the scripted model. */
  readonly isRehearsal: boolean;
  /** Goes on by itself when the chat is over. */
  readonly staysRunning: boolean;
  open(wanted: Wanted, options: OpenOptions): Promise<ChatSession>;
  /** Ends, or goes on with, what dead hosts left in a turn. A server does so by itself. */
  settleAbandoned?(telling: Pick<Settling, "say" | "goOnWith">): Promise<OtherTurns>;
}
