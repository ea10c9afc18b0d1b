import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { EngineFact } from "../../src/core/ports/engine.ts";
import type { EventDraft, EventType, Preview } from "../../src/core/events/events.ts";
import type { HistoryItem } from "../../src/core/session/history.ts";
import type { TranscriptEntry } from "../../src/core/ports/store.ts";
import { translate } from "../../src/engines/claude/sdk/from-sdk-message.ts";
import { startTranslator, type TranslatorState } from "../../src/engines/claude/sdk/translation.ts";

/**
 * What the real SDK and CLI (0.3.325) said, recorded with the engine's own options against the scripted model. Ids are
 * made short and fields that say nothing here, such as times, are left out.
 */
const FILES = ["turns", "subagents", "compaction", "streams", "results"] as const;
type File = (typeof FILES)[number];

export type Message = Parameters<typeof translate>[1];

function read(file: string): unknown {
  return JSON.parse(readFileSync(join(import.meta.dirname, "fixtures", `${file}.json`), "utf8"));
}

export function recording(file: File, name: string): readonly Message[] {
  const messages = (read(file) as Record<string, Message[]>)[name];
  if (messages === undefined) throw new Error(`${file}.json has no recording "${name}"`);
  return messages;
}

export const RECORDINGS = FILES.flatMap((file) =>
  Object.entries(read(file) as Record<string, Message[]>).map(([name, messages]) => ({
    name: `${file}: ${name}`,
    messages,
  })),
);

export const SESSION = "sesn_0190aaaabbbb7cccdddd0000000000aa";

/** A translator whose ids are `id1`, `id2`, … */
export function translator(given: Partial<TranslatorState> = {}): TranslatorState {
  let made = 0;
  const newId = (): string => `id${(made += 1)}`;
  const fresh = {
    sessionId: SESSION,
    instructions: "You are a test agent.",
    wantsOutput: false,
    totals: {},
    line: undefined,
  };
  return { ...startTranslator({ ...fresh, newId, agentOfCall: new Map() }), ...given };
}

export interface Step {
  readonly message: Message;
  readonly facts: readonly EngineFact[];
  readonly before: TranslatorState;
  readonly after: TranslatorState;
}

export function steps(messages: readonly Message[], start: TranslatorState = translator()): readonly Step[] {
  let state = start;
  return messages.map((message) => {
    const before = state;
    const { facts, state: after } = translate(before, message);
    state = after;
    return { message, facts, before, after };
  });
}

export function factsOf(messages: readonly Message[], start?: TranslatorState): readonly EngineFact[] {
  return steps(messages, start).flatMap(({ facts }) => facts);
}

export function draftsOf(facts: readonly EngineFact[]): readonly EventDraft[] {
  return facts.flatMap((fact) => (fact.kind === "event" ? [fact.draft] : []));
}

export function draftsOfType<T extends EventType>(facts: readonly EngineFact[], type: T): readonly EventDraft<T>[] {
  return draftsOf(facts).filter((draft): draft is EventDraft<T> => draft.type === type);
}

export function previewsOf(facts: readonly EngineFact[]): readonly Preview[] {
  return facts.flatMap((fact) => (fact.kind === "preview" ? [fact.preview] : []));
}

/** A recorded session: what the CLI kept, and what the log says the model must see. */
export interface Transcript {
  readonly sessionId: string;
  readonly history: readonly HistoryItem[];
  readonly entries: readonly TranscriptEntry[];
}

export function transcript(name: string): Transcript {
  return read(`transcript-${name}`) as Transcript;
}
