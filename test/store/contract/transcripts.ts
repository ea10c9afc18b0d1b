import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { initialState } from "../../../src/core/session/state.ts";
import { manualClock, sampleSession } from "../samples.ts";
import { type Create, entry, withSession } from "./under-test.ts";

export function snapshotTests(create: Create): void {
  test("keeps the newest snapshot, whatever the order of saving", async () => {
    await using fresh = await create(manualClock());
    const { store } = fresh;
    await store.createSession(sampleSession("sesn_1"));
    expect(await store.snapshot("sesn_1")).toBeUndefined();
    const newer = { seq: 9, state: { ...initialState, turns: 3, usd: 0.125, model: "claude-opus-4-5" } };
    await store.saveSnapshot("sesn_1", { seq: 4, state: initialState });
    await store.saveSnapshot("sesn_1", newer);
    await store.saveSnapshot("sesn_1", { seq: 8, state: initialState });
    expect(await store.snapshot("sesn_1")).toEqual(newer);
    await store.saveSnapshot("sesn_1", { seq: 9, state: initialState });
    expect(await store.snapshot("sesn_1")).toEqual({ seq: 9, state: initialState });
  });
}

export function transcriptTests(create: Create): void {
  describe("transcripts", () => {
    test("leave an entry with a known uuid as it is and keep the order", async () => {
      await using fresh = await create(manualClock());
      const { transcripts } = await withSession(fresh.store);
      await transcripts.append("sesn_1", "", [entry("a", 1), entry("b", 1)]);
      await transcripts.append("sesn_1", "", [entry("b", 2), entry("c", 2), entry("c", 3), entry("a", 2)]);
      expect(await transcripts.load("sesn_1", "")).toEqual([entry("a", 1), entry("b", 1), entry("c", 2)]);
    });

    test("append every entry without a uuid", async () => {
      await using fresh = await create(manualClock());
      const { transcripts } = await withSession(fresh.store);
      const title = { type: "custom-title", title: "same" };
      await transcripts.append("sesn_1", "", [title, title]);
      await transcripts.append("sesn_1", "", [title]);
      expect(await transcripts.load("sesn_1", "")).toEqual([title, title, title]);
    });

    test("are kept apart by session and path", async () => {
      await using fresh = await create(manualClock());
      const { transcripts } = await withSession(fresh.store);
      await fresh.store.createSession(sampleSession("sesn_2"));
      await transcripts.append("sesn_1", "", [entry("a", 1)]);
      await transcripts.append("sesn_1", "subagents/x", [entry("a", 2)]);
      await transcripts.append("sesn_2", "", [entry("a", 3)]);
      expect(await transcripts.load("sesn_1", "")).toEqual([entry("a", 1)]);
      expect(await transcripts.load("sesn_1", "subagents/x")).toEqual([entry("a", 2)]);
      expect(await transcripts.load("sesn_2", "")).toEqual([entry("a", 3)]);
    });

    test("list the paths of subagents, not the main line", async () => {
      await using fresh = await create(manualClock());
      const { transcripts } = await withSession(fresh.store);
      for (const path of ["subagents/y", "", "subagents/x"]) await transcripts.append("sesn_1", path, [entry("a", 1)]);
      expect(await transcripts.paths("sesn_1")).toEqual(["subagents/x", "subagents/y"]);
    });

    test("are replaced as a whole, one path at a time", async () => {
      await using fresh = await create(manualClock());
      const { transcripts } = await withSession(fresh.store);
      await transcripts.append("sesn_1", "", [entry("a", 1), entry("b", 1)]);
      await transcripts.append("sesn_1", "subagents/x", [entry("a", 1)]);
      await transcripts.replace("sesn_1", "", [entry("c", 2), entry("a", 2)]);
      await transcripts.append("sesn_1", "", [entry("a", 3), entry("d", 3)]);
      expect(await transcripts.load("sesn_1", "")).toEqual([entry("c", 2), entry("a", 2), entry("d", 3)]);
      expect(await transcripts.load("sesn_1", "subagents/x")).toEqual([entry("a", 1)]);
      await transcripts.replace("sesn_1", "subagents/x", []);
      expect(await transcripts.paths("sesn_1")).toEqual([]);
    });

    test("stay as they were when a replacement fails", async () => {
      await using fresh = await create(manualClock());
      const { transcripts } = await withSession(fresh.store);
      await transcripts.append("sesn_1", "", [entry("a", 1)]);
      const replacement = transcripts.replace("sesn_1", "", [entry("b", 2), { type: "user", impossible: 10n }]);
      await expect(replacement).rejects.toMatchObject({ code: "store_failed" });
      expect(await transcripts.load("sesn_1", "")).toEqual([entry("a", 1)]);
    });

    test("load deeply equal to what was appended", async () => {
      await using fresh = await create(manualClock());
      const { transcripts } = await withSession(fresh.store);
      const anyJson = fc.json().map((text) => JSON.parse(text) as unknown);
      const anyEntry = fc.record({ type: fc.string(), message: anyJson, text: fc.string({ unit: "binary" }) });
      let made = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(anyEntry), async (entries) => {
          const path = `subagents/${(made += 1)}`;
          await transcripts.append("sesn_1", path, entries);
          expect(await transcripts.load("sesn_1", path)).toEqual(entries);
        }),
        { numRuns: 30 },
      );
    });
  });
}
