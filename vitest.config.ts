import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Most tests drive a real agent process: more workers than cores only make each of them wait.
    maxWorkers: 2,
    // No test leaves anything behind in its process, so that modules need to be loaded once for each worker.
    isolate: false,
    // The same lines wherever they run: some machines that build have colours without a terminal.
    env: { NO_COLOR: "1" },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A machine that is busy with other tests takes its time.
    expect: { poll: { timeout: 20_000 } },
  },
});
