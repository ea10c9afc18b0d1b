import { describe } from "vitest";
import { approvalCampaign } from "../support/crash/approval-campaign.ts";

/** A seeded sample, chosen for having every kind of blow and answer in it; `npm run soak` runs many more. */
describe("approvals survive whoever is killed, and when", () => {
  approvalCampaign({ seed: 20_263_520, rounds: 20, lanes: 3 });
});
