import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../support/host.ts";
import { runSuiteFile } from "../support/suites.ts";

const AGENTS = join(import.meta.dirname, "agents");

test.for(readdirSync(AGENTS))("the agent of %s passes its own tests", async (file) => {
  using directory = temporaryDirectory();
  const { run } = await runSuiteFile(join(AGENTS, file), "rehearsal", { home: directory.path });
  const [trial] = run.suites[0]?.cases[0]?.trials ?? [];
  expect([trial?.error, trial?.verdicts.filter(({ passed }) => !passed)]).toEqual([undefined, []]);
  expect(run.exitCode).toBe(0);
});
