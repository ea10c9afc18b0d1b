import { createHash } from "node:crypto";
import { z } from "zod";
import type { CassetteExchange, RecordedNews } from "../../core/suite/cassette.ts";
import { mapTexts, type Placeholders } from "./placeholders.ts";

/** A request in the form that is recorded and compared. */
export interface RequestFingerprint extends Pick<CassetteExchange, "model" | "settings" | "news"> {
  readonly instructions: unknown;
  readonly tools: readonly unknown[];
  readonly stream: boolean;
}

const block = z.looseObject({ type: z.string(), cache_control: z.unknown().optional() });
const message = z.looseObject({ role: z.string(), content: z.union([z.string(), z.array(block)]) });
const request = z.looseObject({
  model: z.string(),
  system: z.union([z.string(), z.array(block)]).optional(),
  tools: z.array(z.looseObject({ name: z.string().optional() })).default([]),
  messages: z.array(message),
  stream: z.boolean().default(false),
});
type Message = z.infer<typeof message>;
type Block = z.infer<typeof block>;

/** Fields besides the input that affect the model's answer. */
const SETTINGS = ["max_tokens", "thinking", "output_config", "temperature", "tool_choice", "stop_sequences"];

export function askedBy(body: Uint8Array, places: Placeholders): RequestFingerprint {
  const { model, system, tools, messages, stream, ...rest } = request.parse(
    JSON.parse(new TextDecoder().decode(body)) as unknown,
  );
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  return {
    model,
    stream,
    settings: Object.fromEntries(
      Object.entries(rest)
        .filter(([key]) => SETTINGS.includes(key))
        .map(([key, value]) => [key, key === "thinking" ? withoutDisplay(value) : value]),
    ),
    instructions: mapTexts(blocksOf(system ?? []).filter(isMeant), places.normaliseMeant),
    tools: mapTexts(tools.map(withoutCacheMark), places.normaliseMeant) as unknown[],
    news: messages.slice(last + 1).map((one) => toldBy(one, places)),
  };
}

/** Identifies a subagent's thread: its task. */
export function taskOf({ news }: Pick<CassetteExchange, "news">): string {
  return JSON.stringify(news.find(({ role }) => role === "user") ?? null);
}

export function shortHash(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("hex").slice(0, 16);
}

function toldBy({ role, content }: Message, places: Placeholders): RecordedNews {
  const normalise = role === "system" ? places.normaliseNotice : places.normalise;
  const blocks = blocksOf(content).toSorted(byCall);
  return { role, content: mapTexts(blocks, normalise) as Block[] };
}

/** Parallel calls end in any order. */
function byCall(a: Block, b: Block): number {
  const [first, second] = [a["tool_use_id"], b["tool_use_id"]];
  return typeof first === "string" && typeof second === "string" ? compare(first, second) : 0;
}

/** Ignores the billing line, which differs in every request. */
function isMeant({ text }: Block): boolean {
  return typeof text !== "string" || !/\bcc_version=/.test(text);
}

/** The same order on every machine. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

function blocksOf(content: string | readonly Block[]): Block[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content.map(withoutCacheMark);
}

/** How thinking is displayed depends on the model's provider, not on the agent. */
function withoutDisplay(thinking: unknown): unknown {
  const { display: _, ...rest } = Object(thinking) as { display?: unknown };
  return rest;
}

/** Cache marks move with every request. */
function withoutCacheMark<Marked extends object>(marked: Marked): Marked {
  const { cache_control: _, ...rest } = marked as Marked & { cache_control?: unknown };
  return rest as Marked;
}
