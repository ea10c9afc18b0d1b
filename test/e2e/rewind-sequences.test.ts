import { describe } from "vitest";
import { rewindCampaign } from "../support/crash/rewind-campaign.ts";

/** A seeded sample with many rewinds that are cut; `npm run soak` runs a hundred. */
describe("whatever happened to the files, a rewind brings back exactly what was there", () => {
  rewindCampaign({ seed: 189, sequences: 4, lanes: 2 });
});
