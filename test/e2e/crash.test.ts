import { expect, test } from "vitest";
import { type Blow, countAppends, survive } from "../support/crash/campaign.ts";
import { random } from "../support/crash/random.ts";
import { momentOfTurn, VICTIMS } from "../support/crash/victims.ts";
import { TEST_ENGINE } from "../support/test-engine.ts";

/** A seeded sample; `npm run soak` runs every crash point and many more random kills. */
const SEED = 20_261_115;
const next = random(SEED);

test("an undisturbed run has many crash points", async () => {
  expect(await countAppends()).toBeGreaterThan(24);
});

// One from each part of the run.
const sample = Array.from({ length: 4 }, (_, index): Blow => ({
  what: "append",
  append: 1 + Math.floor((index + next()) * 6),
  when: index % 2 === 0 ? "before" : "after",
}));
// In the first turn, when the CLI's transcript has something of the first message and the log has more, or less.
const first = (TEST_ENGINE === "claude" ? [1, 2] : []).map((append): Blow => ({
  what: "append",
  to: "transcript",
  append,
  when: append === 1 ? "after" : "before",
}));
for (const blow of [...sample, ...first])
  test(`nothing is lost or doubled when the host dies: ${JSON.stringify(blow)}`, () => survive(blow));

const kills = VICTIMS.map((what): Blow => ({ what, afterMs: momentOfTurn(next()) }));
for (const blow of kills)
  test(`nothing is lost or doubled when a process is killed at random: ${JSON.stringify(blow)}`, () => survive(blow));
