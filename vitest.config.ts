import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { defineConfig } from "vitest/config";

/** Tests that need a program only the system provides. `npm test` installs it where it may, and says what it leaves out. */
const NEEDS = {
  tmux: ["test/cli/chat.test.ts", "test/cli/chat-ends.test.ts", "test/cli/chat-remote.test.ts"],
  chromium: ["test/browser/**/*.test.ts"],
};
const isRequired = process.env["CAPSTAN_TEST_REQUIRE"] === "all";
const LEFT_OUT = Object.entries(NEEDS).flatMap(([program, files]) => (isRequired || isPresent(program) ? [] : files));

function isPresent(program: string): boolean {
  return (process.env["PATH"] ?? "").split(delimiter).some((directory) => existsSync(join(directory, program)));
}

/** What starts git all the time. */
const GIT = ["test/workspace/**/*.test.ts", "test/e2e/{checkpoints,rewind-sequences,workspace*}.test.ts"];
/** What has hosts in its own process. */
const HOSTS = ["test/{client,e2e,eval,runtime,server}/**/*.test.ts", "test/engines/{*/contract,change}.test.ts"];
/** What stays in its process, for the most part. */
const UNITS = ["test/{config,core,engines,gateway,store,tools,web}/**/*.test.ts"];

export default defineConfig({
  test: {
    // Most tests drive a real agent process: more workers than cores only make each of them wait.
    maxWorkers: 2,
    // No test leaves anything behind in its process, so that modules need to be loaded once for each worker.
    isolate: false,
    // A process is forked with all page tables of its parent: in a worker that property tests have left with 500 MB, to
    // start git costs several times what it costs in a new one. So these share no workers. They run in this order.
    projects: [
      { extends: true, test: { name: "1 git", include: GIT, isolate: true } },
      { extends: true, test: { name: "2 hosts", include: HOSTS, exclude: GIT } },
      {
        extends: true,
        test: {
          name: "3 programs",
          include: ["test/**/*.test.ts"],
          exclude: [...GIT, ...HOSTS, ...UNITS, ...LEFT_OUT],
        },
      },
      { extends: true, test: { name: "4 units", include: UNITS, exclude: HOSTS } },
    ],
    // The same lines wherever they run: some machines that build have colours without a terminal.
    env: { NO_COLOR: "1" },
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A machine that is busy with other tests takes its time.
    expect: { poll: { timeout: 45_000 } },
  },
});
