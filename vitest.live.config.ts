import { defineConfig } from "vitest/config";

/** Real turns with real providers, for people with a key: `npm run test:live`. */
export default defineConfig({
  test: {
    include: ["test/live/**/*.live.ts"],
    maxWorkers: 1,
    testTimeout: 180_000,
  },
});
