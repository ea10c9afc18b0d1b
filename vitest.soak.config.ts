import { defineConfig } from "vitest/config";

/** The full counts of the kill campaigns and the shell fuzzer: `npm run soak`. */
export default defineConfig({
  test: {
    include: ["test/soak/**/*.soak.ts"],
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
