import { describe } from "vitest";
import { rewindCampaign } from "../support/crash/rewind-campaign.ts";

describe("whatever happened to the files, a rewind brings back exactly what was there", () => {
  rewindCampaign({
    seed: Number(process.env["CAPSTAN_SOAK_SEED"] ?? 1),
    sequences: Number(process.env["CAPSTAN_SOAK_ROUNDS"] ?? 100),
    lanes: 2,
  });
});
