import { describe } from "vitest";
import { approvalCampaign } from "../../support/crash/approval-campaign.ts";

/** One round of each scenario; `npm run test:rest` runs the longer campaign of test/e2e on the CLI too. */
describe("approvals survive whoever is killed, and when", () => {
  approvalCampaign({ seed: 20_263_525, rounds: 5, lanes: 3 });
});
