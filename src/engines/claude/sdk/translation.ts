import type { EngineFact } from "../../../core/ports/engine.ts";
import type { EventDraft } from "../../../core/events/events.ts";
import type { ModelTotals } from "../transcript.ts";
import type { FailureNotes } from "./turn-end.ts";

/** The state that the translator keeps between SDK messages. */
export interface TranslatorState {
  readonly sessionId: string;
  /** The thread of the subagent that the process drives alone; undefined for the primary thread. */
  readonly line: string | undefined;
  readonly instructions: string;
  /** The instructions are appended to Claude Code's own (default: they replace them). */
  readonly isAppended?: boolean;
  readonly wantsOutput: boolean;
  /** Names of the host's tools that run in a client (default: none). */
  readonly customTools?: readonly string[];
  readonly newId: () => string;
  /** The message that is being streamed. */
  readonly streaming: string;
  /** Blocks with a preview but no final event yet, oldest first. */
  readonly openBlocks: readonly OpenBlock[];
  /** Agent call → the CLI's name for the subagent it started. */
  readonly agentOfCall: ReadonlyMap<string, AgentRef>;
  readonly totals: Readonly<Record<string, ModelTotals>>;
  /** A compaction whose summary has not arrived yet. */
  readonly compaction: Omit<EventDraft<"agent.thread_context_compacted">, "type" | "summary"> | undefined;
  /**
   * SDK message → its model message, for the most recent ones. A compaction refers to messages it keeps by these ids.
   */
  readonly messageOf: ReadonlyMap<string, string>;
  readonly failure: FailureNotes;
  /** The last `capstan.prompt_rendered`, so that it is emitted again only when it changes. */
  readonly rendered: string;
}

interface AgentRef {
  readonly id: string;
  readonly name: string;
}

export interface Translation {
  readonly state: TranslatorState;
  readonly facts: readonly EngineFact[];
}

export function startTranslator(
  given: Pick<
    TranslatorState,
    | "sessionId"
    | "line"
    | "instructions"
    | "isAppended"
    | "wantsOutput"
    | "customTools"
    | "newId"
    | "totals"
    | "agentOfCall"
  >,
): TranslatorState {
  return {
    ...given,
    streaming: "",
    openBlocks: [],
    compaction: undefined,
    messageOf: new Map(),
    failure: {},
    rendered: "",
  };
}

/** A block that is being streamed: its preview and its final event share the id. */
export interface OpenBlock {
  readonly messageId: string;
  readonly index: number;
  readonly id: string;
  readonly type: "agent.message" | "agent.thinking";
}

/** Previews that will never get their final event. */
export function withdrawals(blocks: readonly OpenBlock[]): EngineFact[] {
  return blocks.map(({ id }) => ({
    kind: "preview",
    preview: { type: "capstan.event_withdrawn", event_id: id },
  }));
}

export function emptyTranslation(state: TranslatorState): Translation {
  return { state, facts: [] };
}

export function events(state: TranslatorState, ...drafts: EventDraft[]): Translation {
  return { state, facts: drafts.map((draft) => ({ kind: "event", draft })) };
}
