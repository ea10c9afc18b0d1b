import { expect, test } from "vitest";
import { countAppends, survive } from "../support/crash/campaign.ts";

const appends = await countAppends();
/** To the transcript, in the first steps of a session. */
const FIRST = 12;

test("there are crash points", () => expect(appends).toBeGreaterThan(30));

for (let append = 1; append <= appends; append += 1)
  for (const when of ["before", "after"] as const)
    test(`the host dies ${when} append ${append} of ${appends}`, () => survive({ what: "append", append, when }));

for (let append = 1; append <= FIRST; append += 1)
  for (const when of ["before", "after"] as const)
    test(`the host dies ${when} append ${append} to the transcript`, () =>
      survive({ what: "append", to: "transcript", append, when }));
