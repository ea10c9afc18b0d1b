import { describe, expect, test } from "vitest";
import { MAX_RUNS } from "../../../src/core/ports/suite-run-store.ts";
import { runSummary } from "../../../src/core/suite/suite-run-summary.ts";
import type { SuiteRun } from "../../../src/core/suite/suite-run.ts";
import { richRun, sampleRun, sampleSuite } from "../../support/suite-run.ts";
import { manualClock, MINUTE, NOON } from "../samples.ts";
import type { Create } from "./under-test.ts";

/** A run of these suites that was started so many minutes after noon. */
function runOf(id: string, minutes: number, suites: readonly string[] = ["refactor"], project = "shop"): SuiteRun {
  const startedAt = new Date(NOON + minutes * MINUTE).toISOString();
  return sampleRun({ id, project, startedAt, suites: suites.map((name) => sampleSuite(name)) });
}

const idsOf = (found: readonly { readonly id: string }[]): readonly string[] => found.map(({ id }) => id);

export function suiteRunTests(create: Create): void {
  describe("runs of suites", () => {
    test("are kept whole, and are there for others", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      const run = richRun();
      await fresh.store.suiteRuns.add(run);
      expect(await other.suiteRuns.get(run.project, run.id)).toEqual(run);
      const { id, mode, exitCode } = run;
      const startedAt = Date.parse(run.startedAt);
      const summary = { id, mode, exitCode, startedAt, ...runSummary(run) };
      expect(await other.suiteRuns.list(run.project, { limit: 10 })).toEqual([summary]);
    });

    test("are another project's, or they are not", async () => {
      await using fresh = await create(manualClock());
      const { suiteRuns } = fresh.store;
      await suiteRuns.add(runOf("run_1", 0));
      expect(await suiteRuns.get("till", "run_1")).toBeUndefined();
      expect(await suiteRuns.get("shop", "run_2")).toBeUndefined();
      expect(await suiteRuns.list("till", { limit: 10 })).toEqual([]);
      expect(await suiteRuns.suites("till")).toEqual([]);
      // Nor can a page be begun after one of them.
      await suiteRuns.add(runOf("run_0", -1, ["refactor"], "till"));
      expect(await suiteRuns.list("till", { limit: 10, after: "run_1" })).toEqual([]);
    });

    test("are stored once", async () => {
      await using fresh = await create(manualClock());
      const { suiteRuns } = fresh.store;
      await suiteRuns.add(runOf("run_1", 0));
      const again = suiteRuns.add(runOf("run_1", 5, ["answers"]));
      await expect(again).rejects.toMatchObject({ code: "store_conflict" });
      expect(await suiteRuns.get("shop", "run_1")).toEqual(runOf("run_1", 0));
      expect((await suiteRuns.suites("shop")).map(({ suite }) => suite)).toEqual(["refactor"]);
    });

    test("are listed newest first, by suite and in pages", async () => {
      await using fresh = await create(manualClock());
      const { suiteRuns } = fresh.store;
      await suiteRuns.add(runOf("run_b", 1, ["answers"]));
      await suiteRuns.add(runOf("run_a", 3, ["refactor", "answers"]));
      await suiteRuns.add(runOf("run_c", 2, ["refactor"]));
      await suiteRuns.add(runOf("run_d", 2, ["refactor"]));
      const list = async (query: object): Promise<readonly string[]> =>
        idsOf(await suiteRuns.list("shop", { limit: 10, ...query }));
      expect(await list({})).toEqual(["run_a", "run_d", "run_c", "run_b"]);
      expect(await list({ suite: "answers" })).toEqual(["run_a", "run_b"]);
      expect(await list({ suite: "none" })).toEqual([]);
      expect(await list({ limit: 2 })).toEqual(["run_a", "run_d"]);
      expect(await list({ limit: 2, after: "run_d" })).toEqual(["run_c", "run_b"]);
      expect(await list({ suite: "answers", after: "run_a" })).toEqual(["run_b"]);
    });

    test("make a list of the suites, each with its last run", async () => {
      await using fresh = await create(manualClock());
      const { suiteRuns } = fresh.store;
      await suiteRuns.add({ ...runOf("run_2", 2, ["refactor"]), exitCode: 1 });
      await suiteRuns.add(runOf("run_1", 1, ["refactor", "answers"]));
      expect(await suiteRuns.suites("shop")).toMatchObject([
        { suite: "answers", file: "suites/answers.test.yaml", agent: "refactorer", lastRun: { id: "run_1" } },
        { suite: "refactor", lastRun: { id: "run_2", exitCode: 1 }, summary: { cases: 1, counts: { passed: 1 } } },
      ]);
    });

    test("with two suites of one name are kept, and listed once", async () => {
      await using fresh = await create(manualClock());
      const { suiteRuns } = fresh.store;
      const run = runOf("run_1", 1, ["refactor", "refactor"]);
      await suiteRuns.add(run);
      expect(await suiteRuns.get("shop", "run_1")).toEqual(run);
      expect(await suiteRuns.list("shop", { limit: 5, suite: "refactor" })).toHaveLength(1);
      expect(await suiteRuns.suites("shop")).toHaveLength(1);
    });

    test("are deleted, and the run before is the last one again", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      const { suiteRuns } = fresh.store;
      await suiteRuns.add(runOf("run_1", 1));
      await suiteRuns.add(runOf("run_2", 2));
      await suiteRuns.add(runOf("run_3", 3, ["refactor", "answers"]));
      expect(await suiteRuns.delete("till", "run_3")).toBe(false);
      expect(await suiteRuns.delete("shop", "run_none")).toBe(false);
      expect(await suiteRuns.delete("shop", "run_3")).toBe(true);
      expect(await suiteRuns.delete("shop", "run_3")).toBe(false);
      expect(await other.suiteRuns.get("shop", "run_3")).toBeUndefined();
      expect(idsOf(await other.suiteRuns.list("shop", { limit: 10 }))).toEqual(["run_2", "run_1"]);
      expect(await other.suiteRuns.list("shop", { limit: 10, suite: "answers" })).toEqual([]);
      expect(await other.suiteRuns.suites("shop")).toMatchObject([{ suite: "refactor", lastRun: { id: "run_2" } }]);
    });

    test("that were deleted still have their place in a list, and their ids", async () => {
      await using fresh = await create(manualClock());
      const { suiteRuns } = fresh.store;
      for (const minutes of [1, 2, 3]) await suiteRuns.add(runOf(`run_${minutes}`, minutes));
      await suiteRuns.delete("shop", "run_2");
      expect(idsOf(await suiteRuns.list("shop", { limit: 1, after: "run_3" }))).toEqual(["run_1"]);
      for (const query of [{}, { suite: "refactor" }])
        expect(idsOf(await suiteRuns.list("shop", { limit: 10, after: "run_2", ...query }))).toEqual(["run_1"]);
      await expect(suiteRuns.add(runOf("run_2", 4))).rejects.toMatchObject({ code: "store_conflict" });
    });

    test(`are kept while they are among the newest ${MAX_RUNS} of one of their suites`, async () => {
      await using fresh = await create(manualClock());
      const { suiteRuns } = fresh.store;
      await suiteRuns.add(runOf("run_rare", -3, ["refactor", "rare"]));
      await suiteRuns.add(runOf("run_first", -2));
      await suiteRuns.add(runOf("run_other", -2, ["refactor"], "till"));
      for (let index = 0; index < MAX_RUNS; index += 1) await suiteRuns.add(runOf(`run_${index}`, index));
      const kept = idsOf(await suiteRuns.list("shop", { limit: 1_000, suite: "refactor" }));
      expect(kept).toHaveLength(MAX_RUNS);
      expect(kept.at(-1)).toBe("run_0");
      expect(await suiteRuns.get("shop", "run_first")).toBeUndefined();
      expect(idsOf(await suiteRuns.list("shop", { limit: 1_000, suite: "rare" }))).toEqual(["run_rare"]);
      expect(await suiteRuns.get("shop", "run_rare")).toBeDefined();
      expect(await suiteRuns.get("till", "run_other")).toBeDefined();
    });
  });
}
