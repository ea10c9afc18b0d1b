import { describe } from "vitest";
import { approvalCampaign } from "../support/crash/approval-campaign.ts";

describe("approvals survive whoever is killed, and when", () => {
  approvalCampaign({
    seed: Number(process.env["CAPSTAN_SOAK_SEED"] ?? 1),
    rounds: Number(process.env["CAPSTAN_SOAK_ROUNDS"] ?? 500),
    lanes: 3,
  });
});
