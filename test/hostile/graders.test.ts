import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { sandboxTest } from "../support/hostile-world.ts";
import { runSuiteFile, writeTree } from "../support/suites.ts";

const AGENT = `
name: helper
instructions: You help.
model: claude-opus-4-8
tools: [Bash]
environment:
  sandbox: { mode: required, auto_allow_sandboxed: true }
`;

const SUITE = `
agent: agent.yaml
cases:
  - name: checks the work
    fixture: fixture
    input: run cp planted.txt check.sh
    graders:
      - command: { run: sh check.sh; echo kept > "$HOME/kept" && cat "$HOME/kept", stdout: { contains: kept } }
      - files: { exist: [ran.txt] }
      - name: what it read
        command: { run: cat seen.txt, stdout: { contains: "the store" } }
`;

sandboxTest.each([
  ["stays in the sandbox, and reads nothing of Capstan's own", undefined, false],
  ["leaves it when the user's own settings say so", true, true],
])("what a command grader runs, as the agent wrote it, %s", async (_what, gradersOutsideSandbox, isOut) => {
  // Not below /tmp, which the sandbox hides.
  const base = mkdtempSync("/var/tmp/capstan-graders-");
  try {
    const escaped = join(base, "escaped");
    writeTree(base, {
      "home/.capstan/secret.txt": "the store",
      "suite/agent.yaml": AGENT,
      "suite/work.test.yaml": SUITE,
      "suite/fixture/planted.txt": `touch ran.txt; touch ${escaped}; cat ${base}/home/.capstan/secret.txt > seen.txt; :\n`,
    });
    const { run } = await runSuiteFile(join(base, "suite/work.test.yaml"), "rehearsal", {
      home: join(base, "home"),
      ...(gradersOutsideSandbox !== undefined && { gradersOutsideSandbox }),
    });
    const [trial] = run.suites[0]?.cases[0]?.trials ?? [];
    expect(trial?.error ?? null).toBe(null);
    expect(trial?.verdicts.map(({ grader, passed }) => [grader, passed])).toEqual([
      ["command", true],
      ["files", true],
      ["what it read", isOut],
    ]);
    expect(existsSync(escaped)).toBe(isOut);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
});
