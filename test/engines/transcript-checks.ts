import { expect } from "vitest";
import { uuidOf } from "../../src/core/ports/clock.ts";
import type { HistoryItem } from "../../src/core/session/history.ts";
import type { TranscriptEntry } from "../../src/core/ports/store.ts";
import { reconcile, type Reconciled } from "../../src/engines/claude/transcript.ts";

const LINKED = ["user", "assistant", "attachment", "system"];

export function agree(entries: readonly TranscriptEntry[], history: readonly HistoryItem[]): Reconciled {
  return reconcile(entries, {
    history,
    sessionUuid: "0190aaaa-bbbb-7ccc-dddd-0000000000aa",
    cwd: "/workspace",
    version: "0.3.325",
  });
}

/** What must hold of every transcript that was written anew from a history. */
export function expectRebuilt(given: readonly TranscriptEntry[], history: readonly HistoryItem[]): Reconciled {
  const rebuilt = agree(given, history);
  expect(rebuilt.agrees, "the two differ").toBe(false);
  expect(agree(rebuilt.entries, history), "once rebuilt they agree").toEqual({
    entries: rebuilt.entries,
    agrees: true,
  });
  expectUnique(rebuilt.entries);
  expectChained(rebuilt.entries, given);
  return rebuilt;
}

function expectUnique(entries: readonly TranscriptEntry[]): void {
  const uuids = entries.flatMap(({ uuid }) => (uuid === undefined ? [] : [uuid]));
  expect(new Set(uuids).size, "every uuid stands once").toBe(uuids.length);
}

/** Every link names an entry before it; a hole that was there before is the CLI's to mend. */
function expectChained(entries: readonly TranscriptEntry[], given: readonly TranscriptEntry[]): void {
  const known = new Set(given.map(({ uuid }) => uuid));
  const before = new Set<unknown>();
  let last: string | undefined;
  for (const entry of entries) {
    if (!LINKED.includes(entry.type) || entry.uuid === undefined) continue;
    const parent = entry["parentUuid"] ?? undefined;
    if (!given.includes(entry)) expect(parent, "what is written anew hangs on the entry before it").toBe(last);
    else if (parent !== undefined && known.has(parent as string))
      expect(before, "a parent stands before").toContain(parent);
    before.add(entry.uuid);
    last = entry.uuid;
  }
}

/** How many leading entries of `rebuilt` are the given ones, untouched. */
export function keptOf(rebuilt: readonly TranscriptEntry[], given: readonly TranscriptEntry[]): number {
  const changed = rebuilt.findIndex((entry, index) => entry !== given[index]);
  return changed < 0 ? rebuilt.length : changed;
}

type Holds = (entry: TranscriptEntry) => boolean;

/** The place of the last entry that holds a part of the item, or -1 when a part of it is missing. */
export function endOf(item: HistoryItem, entries: readonly TranscriptEntry[]): number {
  const places = partsOf(item).map((holds) => entries.findLastIndex(holds));
  return places.includes(-1) ? -1 : Math.max(...places);
}

function partsOf(item: HistoryItem): Holds[] {
  if (item.kind === "summary") return [(entry) => entry["isCompactSummary"] === true];
  if (item.kind === "user") {
    const uuid = uuidOf(item.eventId);
    return [
      (entry) =>
        (entry.type === "user" && entry.uuid === uuid) ||
        (entry["attachment"] as { source_uuid?: string } | undefined)?.source_uuid === uuid,
    ];
  }
  return [
    ...item.blocks.flatMap((block): Holds[] => {
      // Thinking is never compared: the CLI may rewrite it.
      if (block.kind === "thinking") return [];
      const wanted: Record<string, string> =
        block.kind === "text" ? { type: "text", text: block.text } : { type: "tool_use", id: block.callId };
      return [(entry) => messageOf(entry).id === item.messageId && holdsBlock(entry, wanted)];
    }),
    ...item.results.map(
      ({ callId }): Holds =>
        (entry) =>
          entry.type === "user" && holdsBlock(entry, { type: "tool_result", tool_use_id: callId }),
    ),
  ];
}

function messageOf(entry: TranscriptEntry): { readonly id?: string; readonly content?: unknown } {
  return entry["message"] ?? {};
}

function holdsBlock(entry: TranscriptEntry, wanted: Readonly<Record<string, string>>): boolean {
  const { content } = messageOf(entry);
  if (!Array.isArray(content)) return false;
  return (content as Record<string, unknown>[]).some((block) =>
    Object.entries(wanted).every(([key, value]) => block[key] === value),
  );
}
