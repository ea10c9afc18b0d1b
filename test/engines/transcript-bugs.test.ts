import { expect, test } from "vitest";
import type { HistoryItem } from "../../src/core/session/history.ts";
import { transcript } from "./recordings.ts";
import { agree, endOf, expectRebuilt } from "./transcript-checks.ts";

/** What must hold and does not yet: each test is to lose its `.fails` when the transcript is mended. */

const said = (id: number, text: string): HistoryItem[] => [
  { kind: "user", eventId: `sevt_0190aaaabbbb7cccdddd00000000000${id}`, content: [{ type: "text", text }] },
  { kind: "model", messageId: `msg_${id}`, blocks: [{ kind: "text", text: `answer to ${text}` }], results: [] },
];

// The CLI adds an `isMeta` entry "[Image: source: …]" that bears the flag of our own messages.
test("the transcript of a session with an image agrees with the log", () => {
  const { entries, history } = transcript("images");
  expect(agree(entries, history).agrees).toBe(true);
});

// A stream that breaks after its thinking block leaves an answer that is nothing but thinking, which has no mark.
test("a transcript with an answer that is nothing but thinking agrees with the log once it is rebuilt", () => {
  expectRebuilt([], transcript("cut-off-after-thinking").history);
});

// For the same reason the entry is not seen when it is all that is left of an answer, and its thinking is said twice.
test("a transcript that was cut after the thinking of an answer holds it once when it is rebuilt", () => {
  const { entries, history } = transcript("tools");
  const thinking = entries.findIndex((entry) => JSON.stringify(entry).includes('"thinking":"hmm"'));
  const rebuilt = expectRebuilt(entries.slice(0, thinking + 1), history.slice(0, 2));
  expect(rebuilt.entries.filter((entry) => JSON.stringify(entry).includes('"thinking":"hmm"'))).toHaveLength(1);
});

// All that stands before the compaction is kept, and what is written anew after it bears the same uuids.
test("a transcript is cut back to a place before its compaction", () => {
  const { entries } = transcript("compaction");
  const [first] = entries.filter((entry) => entry.type === "user");
  const eventId = `sevt_${first?.uuid?.replaceAll("-", "")}`;
  const earlier: HistoryItem[] = [{ kind: "user", eventId, content: [{ type: "text", text: "Count the apples." }] }];
  expectRebuilt(entries, earlier);
});

// The CLI follows the links from the end: a message beside them would be in the transcript and in no request.
test("a transcript with a message that no link leads to is rebuilt", () => {
  const history = [...said(1, "one"), ...said(2, "two"), ...said(3, "three")];
  const { entries } = agree([], history);
  const before = entries[1]?.uuid;
  const skipped = entries.map((entry) => (entry.uuid === entries[3]?.uuid ? { ...entry, parentUuid: before } : entry));
  expect(skipped).not.toEqual(entries);
  expectRebuilt(skipped, history);
});

// A message that was lost is written anew after what followed it, and that must not hang on it.
test("a transcript that lost a message has no circle once it is rebuilt", () => {
  const { entries, history } = transcript("resumed");
  const lost = entries.findIndex((entry) => JSON.stringify(entry).includes("Go on."));
  const rebuilt = expectRebuilt(entries.toSpliced(lost, 1), history);
  const places = new Map(rebuilt.entries.map(({ uuid }, index) => [uuid, index]));
  for (const [index, { parentUuid }] of rebuilt.entries.entries())
    if (typeof parentUuid === "string") expect(places.get(parentUuid) ?? -1).toBeLessThan(index);
});

// Any two summaries count as the same.
test("a transcript is cut back to an earlier compaction", () => {
  const { entries, history } = transcript("compaction");
  const earlier: HistoryItem[] = [{ kind: "summary", text: "An earlier summary.", kept: [] }, ...history.slice(1)];
  const rebuilt = expectRebuilt(entries, earlier);
  expect(JSON.stringify(rebuilt.entries)).toContain("An earlier summary.");
});

// A user's message that was written anew lacks the flag by which the CLI's notes are told from ours.
test("a rebuilt transcript is cut back to an earlier place of the log", () => {
  const [first, later] = [said(1, "one"), said(2, "two")];
  const rebuilt = agree([], [...first, ...later]).entries;
  const cut = expectRebuilt(rebuilt, first);
  for (const item of later) expect(endOf(item, cut.entries)).toBe(-1);
});

// Answers are told apart by their text alone, so the second passes for the first and is then written once more.
test("a transcript that lost the first of two answers with the same text agrees once it is rebuilt", () => {
  const { entries, history } = transcript("refusal");
  const lost = entries.find((entry) => JSON.stringify(entry).includes("I will not."));
  expectRebuilt(
    entries.filter((entry) => entry !== lost),
    history,
  );
});
