import { test } from "vitest";
import { survive } from "../support/crash/campaign.ts";
import { random } from "../support/crash/random.ts";
import { momentOfTurn, VICTIMS } from "../support/crash/victims.ts";

const COUNT = Number(process.env["CAPSTAN_SOAK_KILLS"] ?? 50);
const next = random(Number(process.env["CAPSTAN_SOAK_SEED"] ?? 1));

for (const what of VICTIMS)
  for (let kill = 1; kill <= COUNT; kill += 1) {
    const afterMs = momentOfTurn(next());
    test(`the ${what} is killed after ${afterMs} ms (${kill} of ${COUNT})`, () => survive({ what, afterMs }));
  }
