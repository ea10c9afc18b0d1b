import { describe, expect, test } from "vitest";
import { countApprovalAppends, surviveApprovalCrash } from "../support/crash/approval-points.ts";
import { inLanes } from "../support/crash/lanes.ts";

describe.each(["one call", "three calls"] as const)("an approval turn with %s", async (scenario) => {
  // The host that asks, and the one that goes on after everything was answered while nobody was there.
  for (const part of ["asking", "revival"] as const) {
    const appends = await countApprovalAppends(scenario, part);
    test(`there are crash points in the ${part}`, () => expect(appends).toBeGreaterThan(8));
    const points = Array.from({ length: appends }, (_, index) => index + 1).flatMap((append) =>
      (["before", "after"] as const).map((when) => ({ append, when })),
    );
    const crash = inLanes(
      points.map((point) => () => surviveApprovalCrash(scenario, part, point)),
      2,
    );
    for (const [index, { append, when }] of points.entries())
      test(`the host dies ${when} append ${append} of ${appends} in the ${part}`, () => crash(index));
  }
});
