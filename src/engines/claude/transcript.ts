import { createHash, randomUUID } from "node:crypto";
import { uuidOf } from "../../core/ports/clock.ts";
import type { HistoryItem, ModelBlock } from "../../core/session/history.ts";
import { hasMarker, mayStandFor } from "../../core/redaction/redaction-marker.ts";
import type { TranscriptEntry } from "../../core/ports/store.ts";
import { apiContent, failedContent } from "../api-content.ts";

/**
 * The CLI's transcript, kept in our store and reconciled with the log. The log is the truth: where the two differ after
 * a crash, a fork or a loss, the transcript is cut and rebuilt from the log.
 */

/** Marks entries that we added to repeat what a compaction kept verbatim; they belong to the preceding summary. */
const KEPT = "capstanKept";

/** A fingerprint of one thing the model will see. Entries without one are the CLI's own bookkeeping. */
type Mark = string;

interface Seen {
  readonly marks: Set<Mark>;
  /** For a user message: its entry. */
  readonly message?: TranscriptEntry;
  /** Index of the entry it begins at. */
  readonly from: number;
}

export interface Reconciled {
  readonly entries: readonly TranscriptEntry[];
  readonly agrees: boolean;
}

/** Compares what the model would see of `entries` with `history`, and returns entries that match it. */
export function reconcile(
  entries: readonly TranscriptEntry[],
  {
    history,
    sessionUuid,
    cwd,
    version,
  }: { history: readonly HistoryItem[]; sessionUuid: string; cwd: string; version: string },
): Reconciled {
  // An answer that contains only thinking, left by a broken stream, can't be sent to the model.
  const told = history.filter((item) => item.kind !== "model" || item.blocks.some(({ kind }) => kind !== "thinking"));
  const wanted = told.map(marksOfItem);
  const seen = seenBy(entries, { known: new Set(wanted.flatMap((marks) => [...marks])), asTold: redactedTexts(told) });
  // The CLI follows the links from the end, and skips entries that it doesn't reach.
  const chain = chainOf(entries);
  const isWhole = seen.every(({ message }) => message === undefined || chain.has(message));
  const comparable = isWhole ? Math.min(wanted.length, seen.length) : 0;
  let same = 0;
  while (same < comparable && equalSets(wanted[same], seen[same]?.marks)) same += 1;
  if (same === wanted.length && same === seen.length) return { entries, agrees: true };
  // Entries before the first common item are useless, and those before a compaction must stay hidden.
  const kept = same === 0 ? [] : withoutLoneThinking(entries.slice(0, seen[same]?.from ?? entries.length));
  const rest = told.slice(same);
  const whole = withoutFollowers(kept, rest);
  const common = { isSidechain: false, userType: "external", cwd, sessionId: sessionUuid, version };
  return { entries: [...whole, ...seed(rest, lastLink(whole), common)], agrees: false };
}

function marksOfItem(item: HistoryItem): Set<Mark> {
  if (item.kind === "summary") return new Set([summaryMark(item.text)]);
  if (item.kind === "user") return new Set([`user ${uuidOf(item.eventId)}`]);
  return new Set([
    `message ${item.messageId}`,
    ...item.blocks.flatMap((block) => markOfBlock(block)),
    ...item.results.map((result) => `result ${result.callId}`),
  ]);
}

function markOfBlock(block: ModelBlock): Mark[] {
  if (block.kind === "text") return [`text ${createHash("sha256").update(block.text).digest("hex")}`];
  // Thinking never appears alone, and the CLI may rewrite its text.
  return block.kind === "call" ? [`call ${block.callId}`] : [];
}

/**
 * Converts transcript text to the log's form. Secrets are redacted in the log but never in the transcript, so two texts
 * are the same when they differ only at markers.
 */
type AsTold = (text: string) => string;

function redactedTexts(history: readonly HistoryItem[]): AsTold {
  const redacted = history
    .flatMap((item) => {
      if (item.kind === "summary") return [item.text];
      return item.kind === "model" ? item.blocks.map((block) => (block.kind === "text" ? block.text : "")) : [];
    })
    .filter(hasMarker);
  return (text) => redacted.find((candidate) => mayStandFor(candidate, text)) ?? text;
}

/** Groups the marks of the entries since the last compaction as a history does: by model message. */
function seenBy(
  entries: readonly TranscriptEntry[],
  { known, asTold }: { known: ReadonlySet<Mark>; asTold: AsTold },
): Seen[] {
  const start = entries.findLastIndex((entry) => entry["subtype"] === "compact_boundary");
  const items: Seen[] = [];
  const byMessage = new Map<string, Seen>();
  const byCall = new Map<Mark, Seen>();
  const open = (from: number, message?: TranscriptEntry): Seen => {
    const item: Seen = { marks: new Set(), from, ...(message !== undefined && { message }) };
    items.push(item);
    return item;
  };
  for (const [index, entry] of entries.entries()) {
    if (index <= start || entry[KEPT] === true) continue;
    const message = entry["message"] as { id?: string; model?: string; content?: unknown } | undefined;
    if (entry.type === "assistant" && message?.model !== "<synthetic>") {
      const item = byMessage.get(message?.id ?? "") ?? open(index);
      byMessage.set(message?.id ?? "", item);
      for (const mark of contentBlocks(message?.content).flatMap((block) => markOfApiBlock(block, asTold))) {
        item.marks.add(`message ${message?.id ?? ""}`);
        item.marks.add(mark);
        byCall.set(mark.replace(/^call/, "result"), item);
      }
    } else if (entry["isCompactSummary"] === true) {
      const content = message?.content;
      open(index).marks.add(summaryMark(asTold(typeof content === "string" ? content : JSON.stringify(content))));
    } else if (entry.type === "user") {
      const results = contentBlocks(message?.content)
        .flatMap((block) => markOfApiBlock(block, asTold))
        .filter((mark) => mark.startsWith("result "));
      for (const mark of results) (byCall.get(mark) ?? open(index)).marks.add(mark);
      // Other user entries are the CLI's own notes, such as "[Request interrupted by user]".
      const literal = entry["queueSkipSlashCommands"] === true && entry["isMeta"] !== true;
      const ours = literal || known.has(`user ${entry.uuid ?? ""}`);
      if (results.length === 0 && ours) open(index, entry).marks.add(`user ${entry.uuid ?? ""}`);
    } else if (entry.type === "attachment") {
      const { type, source_uuid: source } = entry["attachment"] as { type?: string; source_uuid?: string };
      if (type === "queued_command" && source !== undefined) open(index, entry).marks.add(`user ${source}`);
    }
  }
  return items.filter((item) => item.marks.size > 0);
}

export function contentBlocks(content: unknown): Record<string, unknown>[] {
  return Array.isArray(content) ? (content as Record<string, unknown>[]) : [];
}

function markOfApiBlock(block: Record<string, unknown>, asTold: AsTold): Mark[] {
  if (block["type"] === "tool_use") return [`call ${String(block["id"])}`];
  if (block["type"] === "tool_result") return [`result ${String(block["tool_use_id"])}`];
  if (block["type"] === "text") return markOfBlock({ kind: "text", text: asTold(String(block["text"])) });
  return [];
}

function equalSets(a: ReadonlySet<Mark> | undefined, b: ReadonlySet<Mark> | undefined): boolean {
  return a !== undefined && b !== undefined && a.size === b.size && a.isSubsetOf(b);
}

function summaryMark(text: string): Mark {
  return `summary ${createHash("sha256").update(text).digest("hex")}`;
}

/** Drops entries linked to messages that are rewritten; otherwise the chain would form a cycle. */
function withoutFollowers(
  entries: readonly TranscriptEntry[],
  items: readonly HistoryItem[],
): readonly TranscriptEntry[] {
  const gone = new Set<unknown>(items.flatMap((item) => (item.kind === "user" ? [uuidOf(item.eventId)] : [])));
  return entries.filter(({ uuid, ...entry }) => {
    const isGone = gone.has(entry["parentUuid"]);
    if (isGone) gone.add(uuid);
    return !isGone;
  });
}

/** Drops trailing thinking whose answer was lost: the model API refuses thinking without an answer. */
function withoutLoneThinking(entries: readonly TranscriptEntry[]): readonly TranscriptEntry[] {
  const last = entries.findLast((entry) => entry.type === "user" || entry.type === "assistant");
  if (last?.type !== "assistant") return entries;
  const { id } = last["message"] as { id?: string };
  const answer = entries.filter((entry) => (entry["message"] as { id?: string } | undefined)?.id === id);
  const blocks = answer.flatMap((entry) => contentBlocks((entry["message"] as { content?: unknown }).content));
  return blocks.some((block) => block["type"] !== "thinking")
    ? entries
    : entries.slice(0, entries.indexOf(answer[0] ?? last));
}

/** The last entry in the conversation's chain. */
export function lastLink(entries: readonly TranscriptEntry[]): string | null {
  return entries.findLast(isLink)?.uuid ?? null;
}

function isLink({ uuid, type }: TranscriptEntry): boolean {
  return uuid !== undefined && ["user", "assistant", "attachment", "system"].includes(type);
}

/** The entries reachable by links from the last one. A link to a missing entry falls back to the preceding entry. */
function chainOf(entries: readonly TranscriptEntry[]): ReadonlySet<TranscriptEntry> {
  const links = entries.filter(isLink);
  const places = new Map(links.map(({ uuid }, index) => [uuid, index]));
  const chain = new Set<TranscriptEntry>();
  for (let at = links.length - 1; at >= 0;) {
    const link = links[at];
    const parent = link?.["parentUuid"] as string | null | undefined;
    if (link === undefined || chain.has(link)) break;
    chain.add(link);
    if (parent == null) break;
    at = places.get(parent) ?? at - 1;
  }
  return chain;
}

/** Entries that make the CLI send `items` to the model as its conversation. */
function seed(items: readonly HistoryItem[], parent: string | null, common: object): TranscriptEntry[] {
  let parentUuid = parent;
  const link = (type: "user" | "assistant", fields: object, uuid: string = randomUUID()): TranscriptEntry => {
    const entry = { ...common, parentUuid, type, uuid, timestamp: new Date().toISOString(), ...fields };
    parentUuid = uuid;
    return entry;
  };
  const entriesOf = (item: HistoryItem): TranscriptEntry[] => {
    if (item.kind === "summary") {
      const summary = link("user", { isCompactSummary: true, message: { role: "user", content: item.text } });
      return [summary, ...item.kept.flatMap(entriesOf).map((entry) => ({ ...entry, [KEPT]: true }))];
    }
    if (item.kind === "user")
      return [
        link(
          "user",
          { queueSkipSlashCommands: true, message: { role: "user", content: apiContent(item.content) } },
          uuidOf(item.eventId),
        ),
      ];
    // Redacted thinking no longer matches its signature, so the model API would refuse it.
    const blocks = item.blocks.filter((block) => block.kind !== "thinking" || !hasMarker(block.thinking));
    const calls = blocks.some((block) => block.kind === "call");
    const message = (block: ModelBlock, index: number): object => ({
      id: item.messageId,
      type: "message",
      role: "assistant",
      model: "claude",
      content: [apiBlock(block)],
      stop_reason: index < blocks.length - 1 ? null : calls ? "tool_use" : "end_turn",
      stop_sequence: null,
      usage: { input_tokens: 0, output_tokens: 0 },
    });
    return [
      ...blocks.map((block, index) => link("assistant", { message: message(block, index) })),
      ...item.results.map((result) =>
        link("user", {
          message: {
            role: "user",
            content: [
              {
                type: "tool_result",
                tool_use_id: result.callId,
                content: result.isError ? failedContent(result.content) : apiContent(result.content),
                ...(result.isError && { is_error: true }),
              },
            ],
          },
        }),
      ),
    ];
  };
  return items.flatMap(entriesOf);
}

function apiBlock(block: ModelBlock): object {
  if (block.kind === "text") return { type: "text", text: block.text };
  if (block.kind === "thinking") return { type: "thinking", thinking: block.thinking, signature: block.signature };
  return { type: "tool_use", id: block.callId, name: block.name, input: block.input };
}

/** The CLI continues from the totals of the last process; differences are counted from here. */
export function usageBaseline(entries: readonly TranscriptEntry[]): Record<string, ModelTotals> {
  const state = entries.findLast((entry) => entry.type === "cost-state");
  return (state?.["modelUsage"] ?? {}) as Record<string, ModelTotals>;
}

export interface ModelTotals {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadInputTokens: number;
  readonly cacheCreationInputTokens: number;
  readonly costUSD: number;
}
