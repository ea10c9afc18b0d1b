import { expect, test } from "vitest";
import { countAppends, survive } from "../support/crash/campaign.ts";
import { TEST_ENGINE } from "../support/test-engine.ts";

const appends = await countAppends();
/** To the CLI's transcript, in the first steps of a session. */
const FIRST = TEST_ENGINE === "claude" ? 12 : 0;

test("there are crash points", () => expect(appends).toBeGreaterThan(30));

for (let append = 1; append <= appends; append += 1)
  for (const when of ["before", "after"] as const)
    test(`the host dies ${when} append ${append} of ${appends}`, () => survive({ what: "append", append, when }));

for (let append = 1; append <= FIRST; append += 1)
  for (const when of ["before", "after"] as const)
    test(`the host dies ${when} append ${append} to the transcript`, () =>
      survive({ what: "append", to: "transcript", append, when }));
