import { defineConfig } from "vitest/config";

/** Campaigns that kill hosts and engines. */
const KILLS = ["test/soak/{approval-*,crash-points,random-kills,rewind-sequences,stream-cuts}.soak.ts"];

/** The full counts of the kill campaigns, on both engines, and of the shell fuzzer: `npm run soak`. */
export default defineConfig({
  test: {
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true,
        test: { name: "direct", include: ["test/soak/**/*.soak.ts"], env: { CAPSTAN_TEST_ENGINE: "direct" } },
      },
      { extends: true, test: { name: "claude", include: KILLS, env: { CAPSTAN_TEST_ENGINE: "claude" } } },
    ],
  },
});
