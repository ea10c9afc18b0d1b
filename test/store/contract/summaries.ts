import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { SessionEvent } from "../../../src/core/events/events.ts";
import { example } from "../../support/event-examples.ts";
import { fold, validLogs } from "../../support/event-logs.ts";
import { manualClock, MINUTE, NOON, sampleMessage } from "../samples.ts";
import { type Create, drivenSession } from "./under-test.ts";

export function summaryTests(create: Create): void {
  describe("summaries", () => {
    test("say of any log, in any batches, what its state says", async () => {
      const clock = manualClock();
      await using fresh = await create(clock);
      await using other = await fresh.another();
      let made = 0;
      await fc.assert(
        fc.asyncProperty(validLogs, fc.integer({ min: 1, max: 20 }), async (log, size) => {
          const id = `sesn_${(made += 1)}`;
          const { fence } = await drivenSession(fresh.store, id);
          clock.advance(1);
          for (let after = 0; after < log.length; after += size)
            await fresh.store.append(id, { after, fence, events: log.slice(after, after + size) });
          const { status, turns, usd } = fold(log);
          const lastActivityAt = log.length === 0 ? NOON : clock.now();
          const summary = (await other.sessions()).find((session) => session.id === id);
          expect(summary).toMatchObject({ status, turns, usd, lastActivityAt });
        }),
        { numRuns: 30 },
      );
    });

    test("count a turn that was put off once", async () => {
      await using fresh = await create(manualClock());
      const { fence } = await drivenSession(fresh.store, "sesn_1");
      const events = ["running", "rescheduled", "running", "idle", "running"] as const;
      let after = 0;
      for (const status of events) {
        await fresh.store.append("sesn_1", { after, fence, events: [example(`session.status_${status}`)] });
        after += 1;
      }
      expect(await fresh.store.sessions()).toMatchObject([{ status: "running", turns: 2 }]);
    });

    test("have the time of the last append", async () => {
      const clock = manualClock();
      await using fresh = await create(clock);
      const { fence } = await drivenSession(fresh.store, "sesn_1");
      clock.advance(3 * MINUTE);
      await fresh.store.append("sesn_1", { after: 0, fence, events: [example("agent.message")] });
      expect(await fresh.store.sessions()).toMatchObject([{ lastActivityAt: NOON + 3 * MINUTE }]);
    });

    test("have the time they were last spoken to, whatever else happened since", async () => {
      const clock = manualClock();
      await using fresh = await create(clock);
      const { fence } = await drivenSession(fresh.store, "sesn_1");
      clock.advance(MINUTE);
      await fresh.store.append("sesn_1", { after: 0, fence, events: [sampleMessage("one")] });
      clock.advance(MINUTE);
      await fresh.store.append("sesn_1", { after: 1, fence, events: [example("agent.message")] });
      const times = { lastSpokenAt: NOON + MINUTE, lastActivityAt: NOON + 2 * MINUTE };
      expect(await fresh.store.sessions()).toMatchObject([times]);
    });

    const image = { type: "image", source: { type: "url", url: "https://example.org/a.png" } } as const;
    const boat = "🚢";
    test.for<{ what: string; messages: readonly SessionEvent[]; first: string }>([
      { what: "the first message", messages: [sampleMessage("one"), sampleMessage("two")], first: "one" },
      { what: "one line", messages: [sampleMessage("  a\n\n\tb\u2028c \r\n")], first: "a b c" },
      { what: "no control characters", messages: [sampleMessage("a\0b\u001b[31mred")], first: "a b [31mred" },
      { what: "120 characters", messages: [sampleMessage("x".repeat(500))], first: "x".repeat(120) },
      {
        what: "no half of a character",
        messages: [sampleMessage(`x${boat.repeat(100)}`)],
        first: `x${boat.repeat(59)}`,
      },
      { what: "no lone surrogate", messages: [sampleMessage("a \ud800 b")], first: "a \ufffd b" },
      {
        what: "the first text",
        messages: [{ ...sampleMessage(""), content: [image] }, sampleMessage("what is this?")],
        first: "what is this?",
      },
      { what: "nothing an agent said", messages: [example("agent.message")], first: "" },
    ])("begin with $what", async ({ messages, first }) => {
      await using fresh = await create(manualClock());
      const { fence } = await drivenSession(fresh.store, "sesn_1");
      for (const [after, event] of messages.entries())
        await fresh.store.append("sesn_1", { after, fence, events: [event] });
      expect((await fresh.store.sessions()).map(({ firstMessage }) => firstMessage)).toEqual([first]);
    });
  });
}
