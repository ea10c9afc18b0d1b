import type { AgentDefinition, Mode } from "../../../core/agent/agent-definition.ts";
import type { MessageContent } from "../../../core/events/content.ts";
import type { EngineName } from "../../../core/agent/engine-name.ts";
import type { SessionRecord } from "../../../core/ports/store.ts";
import type { OtherTurns, Settling } from "../../run/settle-abandoned.ts";
import type { Asking } from "../../ask/ask.ts";
import type { Followed, FollowedHost } from "../../target/followed-session.ts";
import type { SessionList } from "../../target/session-id.ts";
import type { CommandFiles } from "../../target/workspaces-session.ts";

/** The session of a chat, run by this process or on a server. */
export interface ChatSession extends Pick<Followed, "id" | "events" | "interrupt"> {
  readonly record: SessionRecord;
  /** What the user should know about the new workspace. */
  readonly notes: readonly string[];
  /** Resolves when the message is saved. The events show the rest. */
  post(content: string | MessageContent): Promise<void>;
  compact(): Promise<void>;
  setEngine(engine: EngineName): Promise<void>;
  setModel(model: string): Promise<void>;
  setMode(mode: Mode): Promise<void>;
  /** Stops running the session here; the session itself remains. */
  leave(): Promise<void>;
}

/** The session to open. */
export type Wanted =
  | { readonly kind: "new" }
  | { readonly kind: "resume"; readonly id: string }
  | { readonly kind: "fork"; readonly id: string };

export interface OpenOptions {
  readonly asking: Asking;
  readonly signal: AbortSignal;
  /** Called with the progress of copying files. */
  readonly onProgress: (text: string) => void;
  /** Called when the connection to a server is lost; with "" when it is back. */
  readonly onTrouble: (text: string) => void;
}

/** Where the sessions of a chat run: in this process or on a server. */
export interface ChatHost extends FollowedHost, SessionList, AsyncDisposable {
  readonly files: CommandFiles;
  /** The agent of new sessions; undefined if only the server knows it. */
  readonly agent: AgentDefinition | undefined;
  /** The project of new sessions. */
  readonly project: string;
  /** The directory of new sessions; undefined on a server. */
  readonly directory: string | undefined;
  /** Whether new sessions use the scripted model. */
  readonly isRehearsal: boolean;
  /** Whether turns continue after the chat ends. */
  readonly staysRunning: boolean;
  open(wanted: Wanted, options: OpenOptions): Promise<ChatSession>;
  /** Recovers turns of dead hosts. Servers do so themselves. */
  settleAbandoned?(reporting: Pick<Settling, "say" | "resumeCommand">): Promise<OtherTurns>;
}
