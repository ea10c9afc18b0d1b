import { expect, test } from "vitest";
import type { HistoryItem } from "../../src/core/session/history.ts";
import type { TranscriptEntry } from "../../src/core/ports/store.ts";
import { agree, expectRebuilt } from "./transcript-checks.ts";

/** The log has no secrets; the transcript keeps them, because the agent still needs them. */

const SECRET = "open-sesame-1234";

function model(id: number, text: string, thinking?: string): HistoryItem {
  return {
    kind: "model",
    messageId: `msg_${id}`,
    blocks: [
      ...(thinking === undefined ? [] : [{ kind: "thinking" as const, thinking, signature: "c2ln" }]),
      { kind: "text", text },
    ],
    results: [],
  };
}

function user(id: number): HistoryItem {
  return {
    kind: "user",
    eventId: `sevt_0190aaaabbbb7cccdddd00000000000${id}`,
    content: [{ type: "text", text: "hi" }],
  };
}

/** A transcript as the CLI would have written it. */
function writeTranscript(history: readonly HistoryItem[]): readonly TranscriptEntry[] {
  return agree([], history).entries;
}

test("a transcript that differs from the log only where secrets were agrees with it, and keeps them", () => {
  const entries = writeTranscript([
    user(1),
    model(1, `The key is ${SECRET}.`),
    user(2),
    model(2, `${SECRET} and ${SECRET}`),
  ]);
  const log = [user(1), model(1, "The key is [redacted:k]."), user(2), model(2, "[redacted:k] and [redacted:other]")];
  expect(agree(entries, log)).toEqual({ entries, agrees: true });
});

test("it agrees after a compaction whose summary held a secret", () => {
  const entries = writeTranscript([
    { kind: "summary", text: `We used ${SECRET}.`, kept: [] },
    user(1),
    model(1, "fine"),
  ]);
  const log: HistoryItem[] = [{ kind: "summary", text: "We used [redacted:k].", kept: [] }, user(1), model(1, "fine")];
  expect(agree(entries, log).agrees).toBe(true);
});

test("a transcript that says something else beside the secret is rebuilt from the log", () => {
  const entries = writeTranscript([user(1), model(1, `The password is ${SECRET}.`)]);
  const { entries: rebuilt } = expectRebuilt(entries, [user(1), model(1, "The key is [redacted:k].")]);
  expect(JSON.stringify(rebuilt)).toContain("[redacted:k]");
  expect(JSON.stringify(rebuilt)).not.toContain(SECRET);
});

test("thinking that a secret was taken out of is left out when a transcript is rebuilt", () => {
  const rebuilt = JSON.stringify(
    writeTranscript([user(1), model(1, "Done.", "I use [redacted:k] now"), user(2), model(2, "Yes.", "plain")]),
  );
  expect(rebuilt).not.toContain("I use");
  expect(rebuilt).toContain("Done.");
  expect(rebuilt).toContain("plain");
});
