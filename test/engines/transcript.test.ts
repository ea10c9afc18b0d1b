import { describe, expect, test } from "vitest";
import type { HistoryItem } from "../../src/core/session/history.ts";
import type { TranscriptEntry } from "../../src/core/ports/store.ts";
import { usageBaseline } from "../../src/engines/claude/transcript.ts";
import { transcript } from "./recordings.ts";
import { agree, endOf, expectRebuilt, keptOf } from "./transcript-checks.ts";

const RECORDED = [
  "tools",
  "parallel",
  "subagents",
  "queued",
  "interrupted-text",
  "interrupted-tool",
  "compaction",
  "auto-compaction",
  "api-error",
  "resumed",
  "cut-off-after-text",
  "repeated-whole",
  "refusal",
  "output",
  "denied",
];

/** How many leading items of the history stand whole in these entries. */
function wholeItems(history: readonly HistoryItem[], entries: readonly TranscriptEntry[]): number {
  const broken = history.findIndex((item) => endOf(item, entries) < 0);
  return broken < 0 ? history.length : broken;
}

/** The entries of the items that stand whole are kept as they are. */
function expectKept(
  rebuilt: readonly TranscriptEntry[],
  given: readonly TranscriptEntry[],
  items: readonly HistoryItem[],
): void {
  const end = Math.max(-1, ...items.map((item) => endOf(item, given)));
  expect(keptOf(rebuilt, given)).toBeGreaterThan(end);
}

describe.each(RECORDED)("the transcript of a real session: %s", (name) => {
  const { entries, history } = transcript(name);

  test("agrees with the log, and is left as it is", () => {
    const { agrees, entries: same } = agree(entries, history);
    expect(agrees).toBe(true);
    expect(same).toBe(entries);
  });

  test("is rebuilt whole when all of it is lost", () => {
    const rebuilt = expectRebuilt([], history);
    for (const item of history) expect(endOf(item, rebuilt.entries)).toBeGreaterThanOrEqual(0);
  });

  test("is rebuilt from where it was cut, wherever that is", () => {
    for (let length = 0; length < entries.length; length += 1) {
      const cut = entries.slice(0, length);
      const whole = wholeItems(history, cut);
      if (whole === history.length) expect(agree(cut, history)).toEqual({ entries: cut, agrees: true });
      else expectKept(expectRebuilt(cut, history).entries, cut, history.slice(0, whole));
    }
  });

  test("is cut back to an earlier place of the log, wherever that is", () => {
    // Back to before a compaction is a case of its own.
    for (let length = history[0]?.kind === "summary" ? 1 : 0; length < history.length; length += 1) {
      const earlier = history.slice(0, length);
      const { entries: cut } = expectRebuilt(entries, earlier);
      expectKept(cut, entries, earlier);
      expect(keptOf(cut, entries)).toBe(cut.length);
      for (const item of history.slice(length)) expect(endOf(item, cut)).toBe(-1);
    }
  });

  test("is rebuilt from where it says something else", () => {
    for (const [index, item] of history.entries()) {
      if (item.kind !== "model" || item.blocks.every((block) => block.kind !== "text")) continue;
      const blocks = item.blocks.map((block) =>
        block.kind === "text" ? { ...block, text: `${block.text} And more.` } : block,
      );
      const other = history.with(index, { ...item, blocks });
      const rebuilt = expectRebuilt(entries, other);
      expectKept(rebuilt.entries, entries, history.slice(0, index));
      for (const wanted of other) expect(endOf(wanted, rebuilt.entries)).toBeGreaterThanOrEqual(0);
    }
  });

  test("is rebuilt from where another message was sent", () => {
    for (const [index, item] of history.entries()) {
      if (item.kind !== "user") continue;
      const other = history.with(index, { ...item, eventId: "sevt_0190ffffffff7fffffffffffffffffff" });
      expectKept(expectRebuilt(entries, other).entries, entries, history.slice(0, index));
    }
  });
});

// The two answers of a refusal have the same text; see transcript-bugs.test.ts.
describe.each(RECORDED.filter((name) => name !== "refusal"))("the transcript of a real session: %s", (name) => {
  const { entries, history } = transcript(name);

  test("is rebuilt from where one entry is missing, whichever that is", () => {
    for (const gone of entries) {
      const gapped = entries.filter((entry) => entry !== gone);
      // Without its boundary there was no compaction: that is another history altogether.
      if (gone["subtype"] === "compact_boundary") continue;
      const whole = wholeItems(history, gapped);
      if (whole === history.length) expect(agree(gapped, history).agrees).toBe(true);
      else expectKept(expectRebuilt(gapped, history).entries, gapped, history.slice(0, whole));
    }
  });
});

describe("a rebuilt transcript", () => {
  const session = transcript("tools");
  const rebuilt = agree([], session.history).entries;

  test("gives the model the blocks, results and errors of the log", () => {
    const said = rebuilt.map((entry) => (entry["message"] as { content: unknown }).content).flat();
    expect(said).toContainEqual({ type: "thinking", thinking: "hmm", signature: "c2lnbmF0dXJl" });
    expect(said).toContainEqual({ type: "text", text: "Looking." });
    expect(said).toContainEqual(
      expect.objectContaining({ type: "tool_use", name: "Bash", input: { command: "echo hello" } }),
    );
    expect(said).toContainEqual(
      expect.objectContaining({ type: "tool_result", content: [{ type: "text", text: "hello" }] }),
    );
    expect(said).toContainEqual(expect.objectContaining({ type: "tool_result", is_error: true }));
  });

  test("says of each message whether the model was done or called a tool", () => {
    const reasons = rebuilt.flatMap((entry) =>
      entry.type === "assistant" ? [(entry["message"] as { stop_reason: string | null }).stop_reason] : [],
    );
    expect(reasons.slice(0, 3)).toEqual([null, null, "tool_use"]);
    expect(reasons.at(-1)).toBe("end_turn");
  });

  test("is of this session, directory and version, and of the primary line", () => {
    for (const entry of rebuilt)
      expect(entry).toMatchObject({
        sessionId: "0190aaaa-bbbb-7ccc-dddd-0000000000aa",
        cwd: "/workspace",
        version: "0.3.325",
        isSidechain: false,
      });
  });

  test("has a text in place of what was redacted", () => {
    const { entries } = agree(
      [],
      [{ kind: "user", eventId: "sevt_0190aaaabbbb7cccdddd000000000001", content: [{ type: "redacted" }] }],
    );
    expect(entries).toMatchObject([
      { uuid: "0190aaaa-bbbb-7ccc-dddd-000000000001", message: { content: [{ type: "text", text: "[redacted]" }] } },
    ]);
  });
});

test("a rebuilt transcript tells of failed calls in words, as the model API wants it", () => {
  const image = { type: "image" as const, source: { type: "url" as const, url: "https://example.com/a.png" } };
  const { entries } = agree(
    [],
    [
      {
        kind: "model",
        messageId: "m1",
        blocks: ["c1", "c2", "c3"].map((callId) => ({ kind: "call", callId, name: "Read", input: {} })),
        results: [
          { callId: "c1", content: [{ type: "text", text: "Look:" }, image], isError: true },
          { callId: "c2", content: [], isError: true },
          { callId: "c3", content: [image], isError: false },
        ],
      },
    ],
  );
  const results = entries.flatMap((entry) => (entry["message"] as { content: { type: string }[] }).content);
  expect(results.filter(({ type }) => type === "tool_result")).toMatchObject([
    { content: [{ text: "Look:" }, { type: "text", text: "[image]" }] },
    { content: [{ text: "[no output]" }] },
    { content: [image] },
  ]);
});

describe("the usage to start from", () => {
  test("is the last total that the CLI wrote down", () => {
    const { entries } = transcript("resumed");
    const written = entries.filter((entry) => entry.type === "cost-state").map((entry) => entry["modelUsage"]);
    expect(written.length).toBeGreaterThan(1);
    expect(usageBaseline(entries)).toEqual(written.at(-1));
    expect(usageBaseline(entries)["claude-opus-4-8"]?.costUSD).toBeGreaterThan(0);
  });

  test("is nothing for a transcript that never had one", () => {
    expect(usageBaseline([])).toEqual({});
    expect(usageBaseline(agree([], transcript("tools").history).entries)).toEqual({});
  });
});
