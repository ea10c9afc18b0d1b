import { expect, test } from "vitest";
import { describePlan, planRound } from "./approval-plan.ts";
import { Round } from "./approval-round.ts";
import { inLanes } from "./lanes.ts";

/** Longer than a round may take. */
const TEST_MS = 180_000;

/** Registers one test for each round. The seeds follow one another, so that a failed round can be run alone. */
export function approvalCampaign({ seed, rounds, lanes }: { seed: number; rounds: number; lanes: number }): void {
  const plans = Array.from({ length: rounds }, (_, index) => planRound(seed + index));
  let hits = 0;
  const round = inLanes(
    plans.map((plan) => async () => {
      await using played = await Round.open(plan);
      await played.run();
      if (played.fallen.some(({ hit }) => hit)) hits += 1;
    }),
    lanes,
  );
  for (const [index, plan] of plans.entries()) test(describePlan(plan), () => round(index), TEST_MS);
  // A campaign whose blows come too late proves nothing.
  test("most rounds were struck", () => expect(hits).toBeGreaterThan(rounds / 2));
}
