import { expect, test } from "vitest";
import { fuzz } from "../support/shell-fuzz/campaign.ts";

/** `npm run test:rest` tries more of them, and `npm run soak` two million. */
const LINES = process.env["CAPSTAN_TEST_DEPTH"] === "full" ? 20_000 : 4_000;

test(
  "bash runs and writes nothing beyond what rules have allowed, for random lines",
  { timeout: 600_000 },
  async () => {
    const { holes, allowed, programs, constructs } = await fuzz({ seed: 1, lines: LINES });
    expect(holes).toEqual([]);
    // The lines are worth something: rules allow many of them, most of those run a program, and nothing is left out.
    expect(allowed).toBeGreaterThan(LINES / 8);
    expect(programs).toBeGreaterThan(allowed);
    expect(constructs.size).toBeGreaterThan(130);
  },
);
