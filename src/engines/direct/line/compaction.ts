import { CapstanError } from "../../../core/errors.ts";
import { askModel, type Asker } from "../model/ask-model.ts";
import { RequestFailure } from "../model/failure.ts";
import { type ModelToAsk, modelToAsk } from "../model/model-to-ask.ts";
import { requestOf } from "../model/request.ts";
import type { Answer } from "../model/wire.ts";
import { type Item, messagesOf } from "./conversation.ts";
import type { LineSpec } from "./line.ts";
import type { Workplace } from "./workplace.ts";

/** Tokens kept free for the next answer and for content that is not counted yet. */
const ANSWER_ROOM = 20_000;
const MARGIN = 13_000;
/**
 * Instructions and tools may exceed the configured compaction point, and no summary makes them smaller. So the next
 * compaction waits until the context has grown by this share.
 */
const GROWTH = 0.25;
/** The share of the context that the last turns may keep verbatim. */
const KEPT_SHARE = 0.1;
/** A manual compaction keeps less, because its user wants a short conversation. */
const KEPT_TURNS = { manual: 1, auto: 2 } as const;
/** How often a conversation that is too long to summarize is halved. */
const MAX_HALVINGS = 4;
/** For English text; other text has fewer. */
const CHARS_PER_TOKEN = 3.5;

const ASK = `CRITICAL: Respond with TEXT ONLY. Do not call any tool.

Summarise the conversation above for yourself: it will be removed, and you continue from your summary alone. Include
1. what the user asked for and wants, with their exact words where these matter, and every correction they made;
2. what was done and found out: files and their important content, commands, decisions and their reasons, errors and how they were solved;
3. what is left to do, what was being worked on last, and the next step.
Be precise and complete; leave out what no longer matters.`;

const HEAD =
  "[The conversation before this point was replaced by this summary. Continue from here without mentioning the summary.]";

export function isFull(
  tokens: number,
  {
    model: { window, maxTokens },
    at = Infinity,
    least,
  }: {
    readonly model: ModelToAsk;
    /** An earlier compaction point, set by the agent. */
    readonly at?: number | undefined;
    /** Tokens left after the last compaction. */
    readonly least: number;
  },
): boolean {
  const isEarly = tokens > Math.max(at, least + at * GROWTH);
  return isEarly || tokens > window - Math.min(maxTokens, ANSWER_ROOM) - MARGIN;
}

export function estimatedTokens(items: readonly Item[]): number {
  return items.length === 0 ? 0 : Math.ceil(JSON.stringify(items).length / CHARS_PER_TOKEN);
}

/** Replaces the older part of a conversation with a summary, and logs it. The most recent part stays unchanged. */
export async function compactItems(
  items: readonly Item[],
  {
    trigger,
    tokensBefore,
    place,
    spec,
    asker,
    signal,
  }: {
    readonly trigger: "manual" | "auto";
    readonly tokensBefore: number;
    readonly place: Workplace;
    readonly spec: LineSpec;
    readonly asker: Asker;
    readonly signal: AbortSignal;
  },
): Promise<{ readonly items: readonly Item[]; readonly tokens: number }> {
  const model = modelToAsk(spec.model());
  const flat = items.flatMap((item) => (item.kind === "summary" ? [{ ...item, kept: [] }, ...item.kept] : [item]));
  const size = Math.min(model.window, place.request.agent.compact_at ?? Infinity);
  const { older, kept } = splitItems(flat, { room: size * KEPT_SHARE, turns: KEPT_TURNS[trigger] });
  const answer = await summarise(older, { place, spec, asker, signal });
  if (signal.aborted) throw new CapstanError("model_failed", "The summary was interrupted.");
  const said = answer.blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  if (said === "" || answer.blocks.some(({ type }) => type === "call"))
    throw notSummarised("the model gave no summary");
  const summary: Item = { kind: "summary", text: `${HEAD}\n\n${said}`, kept };
  const tokens = estimatedTokens([summary]);
  await place.host.emit({
    kind: "event",
    draft: {
      type: "agent.thread_context_compacted",
      ...(spec.threadId !== undefined && { session_thread_id: spec.threadId }),
      trigger,
      tokens_before: tokensBefore,
      tokens_after: tokens,
      summary: summary.text,
      // The owner of the log resolves where it begins.
      kept: {
        event_ids: kept.flatMap((item) => (item.kind === "user" ? [item.eventId] : [])),
        message_ids: kept.flatMap((item) => (item.kind === "model" ? [item.messageId] : [])),
        from_seq: 0,
      },
    },
  });
  return { items: [summary], tokens };
}

/** Keeps as many of the last turns as are short enough. At least one item is summarized. */
function splitItems(
  items: readonly Item[],
  { room, turns }: { readonly room: number; readonly turns: number },
): { readonly older: readonly Item[]; readonly kept: readonly Item[] } {
  const starts = items.flatMap((item, index) => (item.kind === "user" && index > 0 ? [index] : []));
  const start = starts.slice(-turns).find((index) => estimatedTokens(items.slice(index)) <= room);
  // A turn that is too long on its own keeps its last steps.
  const steps = items.flatMap((item, index) => (item.kind === "model" && index > 0 ? [index] : []));
  const step = steps.find((index) => estimatedTokens(items.slice(index)) <= room);
  const isAtWork = items.at(-1)?.kind === "model" && start === undefined;
  const at = start ?? (isAtWork ? step : undefined) ?? items.length;
  return { older: items.slice(0, at), kept: items.slice(at) };
}

async function summarise(
  items: readonly Item[],
  {
    place,
    spec,
    asker,
    signal,
  }: { readonly place: Workplace; readonly spec: LineSpec; readonly asker: Asker; readonly signal: AbortSignal },
): Promise<Answer> {
  let older = items;
  for (let halvings = 0; ; halvings += 1) {
    const common = {
      system: spec.system(),
      tools: spec.tools(),
      messages: place.media.without(messagesOf([...older, { kind: "note", text: ASK }])),
      settings: place.request.agent,
    };
    try {
      const answer = await askModel(
        {
          request: (name) => requestOf(common, modelToAsk(name)),
          model: spec.model(),
          fallback: spec.fallback,
          requestClass: "compaction",
          betas: place.betas(modelToAsk(spec.model())),
          isShown: false,
        },
        asker,
        signal,
      );
      place.tally.add(answer);
      return answer;
    } catch (thrown) {
      if (!(thrown instanceof RequestFailure)) throw thrown;
      if (await place.media.leavesOut(thrown, common.messages, asker)) {
        halvings -= 1;
        continue;
      }
      if (!thrown.isOverflow || halvings === MAX_HALVINGS || older.length < 2) throw notSummarised(thrown.message);
      older = [{ kind: "note", text: "[The beginning is left out.]" }, ...older.slice(Math.ceil(older.length / 2))];
    }
  }
}

function notSummarised(why: string): CapstanError {
  const said = why.replace(/[.\s]*$/, "");
  return new CapstanError(
    "model_failed",
    `The conversation could not be compacted: ${said}. It is unchanged; compact it again, or continue.`,
  );
}
