import { existsSync } from "node:fs";
import { availableParallelism } from "node:os";
import { delimiter, join } from "node:path";
import { defineConfig } from "vitest/config";
import {
  ABOUT_CLAUDE,
  CLAUDE_FIRST,
  CLAUDE_LATER,
  DEEP,
  ON_BOTH_ENGINES,
  WITHOUT_ENGINE,
} from "./test/engine-files.ts";
import { TimesReporter } from "./test/support/times-reporter.ts";

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
const HOSTS = ["test/{client,e2e,eval,runtime,server}/**/*.test.ts", "test/engines/direct/contract.test.ts"];
/** What stays in its process, for the most part. */
const UNITS = ["test/{config,core,engines,gateway,store,tools,web}/**/*.test.ts"];
/** What may run an agent. */
const AGENTS = [
  "test/{browser,cli,client,e2e,eval,hostile,runtime,server}/**/*.test.ts",
  "test/{docs,examples}.test.ts",
];

const DIRECT = { NO_COLOR: "1", CAPSTAN_TEST_ENGINE: "direct" };
const CLAUDE = { NO_COLOR: "1", CAPSTAN_TEST_ENGINE: "claude" };

export default defineConfig({
  test: {
    reporters: ["default", new TimesReporter()],
    // Tests wait for the disk or another process half of their time: three workers used 1.4 of two cores.
    maxWorkers: availableParallelism() * 2,
    // No test leaves anything behind in its process, so that modules need to be loaded once for each worker.
    isolate: false,
    // A process is forked with all page tables of its parent: in a worker that property tests have left with 500 MB, to
    // start git costs several times what it costs in a new one. So these share no workers. They run in this order.
    projects: [
      // First, because its longest file must not be what everything else waits for at the end.
      {
        extends: true,
        test: { name: "1 claude", include: [...CLAUDE_FIRST, ...ON_BOTH_ENGINES], exclude: LEFT_OUT, env: CLAUDE },
      },
      { extends: true, test: { name: "2 git", include: GIT, exclude: DEEP, isolate: true, env: DIRECT } },
      {
        extends: true,
        test: { name: "3 hosts", include: HOSTS, exclude: [...GIT, ...ABOUT_CLAUDE, ...DEEP], env: DIRECT },
      },
      {
        extends: true,
        test: {
          name: "4 programs",
          include: ["test/**/*.test.ts"],
          exclude: [...GIT, ...HOSTS, ...UNITS, ...ABOUT_CLAUDE, ...LEFT_OUT, ...DEEP],
          env: DIRECT,
        },
      },
      {
        extends: true,
        test: { name: "5 units", include: UNITS, exclude: [...HOSTS, ...ABOUT_CLAUDE, ...DEEP], env: DIRECT },
      },
      // Left out by `npm test`, and run by `npm run test:deep`: what takes long, with all its rounds.
      {
        extends: true,
        test: {
          name: "6 deep on direct",
          include: [...DEEP, "test/e2e/shell-fuzz.test.ts"],
          exclude: LEFT_OUT,
          env: { ...DIRECT, CAPSTAN_TEST_DEPTH: "full" },
        },
      },
      // Left out by `npm test`, and run by `npm run test:rest`: what passes on the direct engine, on the Claude CLI.
      {
        extends: true,
        test: {
          name: "6 rest on claude",
          include: [...AGENTS, ...CLAUDE_LATER],
          exclude: [...CLAUDE_FIRST, ...ON_BOTH_ENGINES, ...WITHOUT_ENGINE, ...LEFT_OUT],
          env: CLAUDE,
        },
      },
    ],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // A machine that is busy with other tests takes its time.
    expect: { poll: { timeout: 45_000 } },
  },
});
