import { describe, expect, test } from "vitest";
import { fuzz } from "../support/shell-fuzz/campaign.ts";

const ROUNDS = Number(process.env["CAPSTAN_SOAK_ROUNDS"] ?? 200);
const SEED = Number(process.env["CAPSTAN_SOAK_SEED"] ?? 1);
const LINES = 10_000;

describe("two million random lines of shell: bash does nothing that rules have not allowed", () => {
  test.each(Array.from({ length: ROUNDS }, (_, round) => SEED * 100_000 + round))(
    "seed %d",
    { timeout: 600_000 },
    async (seed) => {
      const { holes, allowed } = await fuzz({ seed, lines: LINES });
      expect(holes).toEqual([]);
      expect(allowed).toBeGreaterThan(LINES / 8);
    },
  );
});
