import { Hono } from "hono";
import type { FeedItem, Follow, Show } from "../../src/server/stream/follower.ts";
import type { Env } from "../../src/server/http/context.ts";
import { eventStream } from "../../src/server/stream/stream.ts";

/** An event that says so many characters. */
export function messageEvent(seq: number, characters = 1): FeedItem {
  return {
    type: "agent.message",
    id: `sevt_${seq}`,
    processed_at: "2026-01-01T00:00:00Z",
    content: [{ type: "text", text: "x".repeat(characters) }],
    seq,
  };
}

/** The same as it is shown. */
export const shown: Show = (item) => ({ ...item });

export function waitForAbort(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((done) => signal.addEventListener("abort", () => done(), { once: true }));
}

/** An app part whose `/stream` follows what a test gives it. */
export function streaming(follow: Follow, show: Show = shown): Hono<Env> {
  return new Hono<Env>().get("/stream", (c) => eventStream(c, { follow, show }));
}

/** Items without end, as fast as they are taken; `taken` counts them. */
export function endless(characters: number): {
  readonly follow: Follow;
  readonly seen: { taken: number; ended: boolean };
} {
  const seen = { taken: 0, ended: false };
  async function* follow(after: number, signal: AbortSignal): AsyncGenerator<FeedItem> {
    try {
      for (let seq = after + 1; !signal.aborted; seq += 1) {
        seen.taken += 1;
        yield messageEvent(seq, characters);
        // What reads the log lets others have their turn now and then.
        if (seq % 10 === 0) await new Promise((done) => setImmediate(done));
      }
    } finally {
      seen.ended = true;
    }
  }
  return { follow, seen };
}
