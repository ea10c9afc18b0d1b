import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { openHost } from "../../src/app/open-host.ts";
import { parseAgent } from "../../src/core/agent/agent-definition.ts";
import { configurationIn } from "../../src/runtime/protected/find-configuration.ts";
import { guardedPaths } from "../../src/runtime/subject/guard-call.ts";
import { SANDBOX_WITH_NODE, sandboxTest } from "../support/hostile-world.ts";
import { agent, ANY_PRESSURE, testEnvironment } from "../support/host.ts";
import { type Reply, say, scriptedModel, toolUse } from "../support/scripted-model.ts";
import { TEST_ENGINE } from "../support/test-engine.ts";

/** A project with files of its own. Not below /tmp, which the sandbox hides. */
function project(files: Readonly<Record<string, string>>) {
  const base = mkdtempSync("/var/tmp/capstan-hooks-");
  const at = (name: string): string => join(base, "project", name);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), text);
    chmodSync(at(name), 0o755);
  }
  return {
    base,
    cwd: join(base, "project"),
    at,
    [Symbol.dispose]: () => rmSync(base, { recursive: true, force: true }),
  };
}

test.each([
  ["a relative import", "node hooks/a.mjs", { "hooks/a.mjs": `import "../lib/x.mjs";` }, "lib/x.mjs"],
  ["an import of an import", "node a.mjs", { "a.mjs": `import("./b.mjs")`, "b.mjs": `import "./x.mjs";` }, "x.mjs"],
  ["a required module without its ending", "node a.cjs", { "a.cjs": `require("./lib/x")` }, "lib/x.js"],
  ["a module of Python", "python3 hooks/a.py", { "hooks/a.py": "import os, helper\n" }, "hooks/helper.py"],
  ["a part of a Python package", "python3 a.py", { "a.py": "from rules import check\n" }, "rules/check.py"],
  ["a relative import of Python", "python3 a.py", { "a.py": "import p.q\n", "p/q.py": "from . import r\n" }, "p/r.py"],
  ["a sourced script", "./a.sh", { "a.sh": `. "$(dirname "$0")/lib.sh"\n` }, "lib.sh"],
  ["a program that a script runs", "hooks/a", { "hooks/a": "#!/usr/bin/env bash\npython3 tools/x.py\n" }, "tools/x.py"],
])("protects %s of a hook like the hook itself", (_what, command, files, loaded) => {
  using place = project({ ...files, [loaded]: "" });
  const worker = parseAgent({ name: "worker", model: "claude-opus-4-8", hooks: { before_tool: [{ command }] } });
  expect(configurationIn(place.cwd, worker)).toContain(place.at(loaded));
  const { programs } = guardedPaths({ cwd: place.cwd, agent: worker, capstanHome: join(place.base, "home") });
  expect(programs).toContain(place.at(loaded));
});

sandboxTest("a sandboxed agent cannot change what its hooks run outside the sandbox", async () => {
  using place = project({
    "hooks/run.mjs": `import "../lib/x.mjs";`,
    "lib/x.mjs": "",
    "scripts/real.sh": "#!/bin/sh\n",
    "linked/other.txt": "",
  });
  const evil = `touch ${join(place.base, "escaped")}`;
  symlinkSync("../scripts/real.sh", place.at("linked/check.sh"));
  writeFileSync(
    place.at("plant.sh"),
    `echo 'import { execSync } from "node:child_process"; execSync("${evil}");' > lib/x.mjs
rm -f linked/check.sh; printf '#!/bin/sh\\n${evil}\\n' > linked/check.sh; chmod +x linked/check.sh; echo planted`,
  );
  const results: string[] = [];
  await using model = await scriptedModel(({ toolResults }): Reply => {
    results.push(...toolResults.map(({ text }) => text));
    const command = ["sh plant.sh", "echo again"][results.length];
    return command === undefined ? say("done") : { blocks: [toolUse("Bash", { command }, `toolu_${results.length}`)] };
  });
  const environment = testEnvironment(model.url);
  await using host = await openHost({
    home: join(place.base, "home"),
    engine: TEST_ENGINE,
    environment,
    capacity: ANY_PRESSURE,
    // In the sandbox nothing that they run gets out, changed or not.
    hooksOutsideSandbox: true,
  });
  const before_tool = [{ command: [process.execPath, "hooks/run.mjs"] }, { command: ["linked/check.sh"] }];
  const session = await host.startSession({
    agent: agent({ tools: ["Bash"], permissions: { mode: "yolo" }, hooks: { before_tool } }),
    cwd: place.cwd,
    environment: { checkpoints: { mode: "off" }, sandbox: SANDBOX_WITH_NODE },
  });
  await session.send("Get out.").result();
  await session.close();
  expect(results).toEqual([expect.stringContaining("planted"), expect.stringContaining("again")]);
  expect(existsSync(join(place.base, "escaped"))).toBe(false);
  expect(readFileSync(place.at("lib/x.mjs"), "utf8")).toBe("");
  expect(lstatSync(place.at("linked/check.sh")).isSymbolicLink()).toBe(true);
});
