import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import type { Runtime } from "../../src/runtime/runtime.ts";
import type { StartOptions } from "../../src/runtime/session-options.ts";
import { sandboxTest } from "../support/hostile-world.ts";
import { agent, eventsOf, ofType, testHost } from "../support/host.ts";
import { obedient, order, type Step } from "../support/obedient-model.ts";

/** A project's own secrets, which the host does not use. */
const SECRETS = [".env", "packages/api/.env.local", "tls/server.key"];
const SEARCH: Step = ["Grep", { pattern: "SECRET|OPEN", output_mode: "content" }];

function fill(cwd: string): void {
  for (const path of [...SECRETS, "packages/api/.env.example", "open.txt"]) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), SECRETS.includes(path) ? "KEY=SECRET\n" : "KEY=OPEN\n");
  }
}

async function results(host: Runtime, steps: readonly Step[], options: StartOptions): Promise<string[]> {
  const session = await host.startSession({ askPermission: () => ({ behavior: "deny", by: "nobody" }), ...options });
  expect((await session.send(order(...steps)).result()).text).toBe("done");
  const events = ofType(await eventsOf(host, session.id), "agent.tool_result");
  return events.map(({ content = [] }) => content.map((block) => (block.type === "text" ? block.text : "")).join("\n"));
}

sandboxTest("a confined agent reads no secret of the project, also one that is made later", async () => {
  await using place = await testHost(obedient);
  const { host, cwd } = place;
  fill(cwd);
  const environment = {
    checkpoints: { mode: "off" },
    sandbox: { mode: "required", auto_allow_sandboxed: true },
  } as const;
  const made: Step[] = [
    ["Bash", { command: "mkdir new" }],
    // By the time of the next one the person has put a file there.
    ["Bash", { command: "cat new/.env packages/api/.env.example" }],
    ["Bash", { command: "mv .env a; cat a; ln tls/server.key b; cat b; mv packages moved; cat moved/api/.env.local" }],
    ["Bash", { command: "grep -r KEY . 2>&1" }],
  ];
  const tries: Step[] = SECRETS.flatMap((path): Step[] => [
    ["Read", { file_path: path }],
    ["Bash", { command: `cat ${path}` }],
    ["Grep", { pattern: "KEY", path, output_mode: "content" }],
  ]);
  const said = await results(host, [SEARCH, ...tries, ...made], {
    agent: agent({ tools: ["Read", "Grep", "Bash"], permissions: { mode: "yolo" } }),
    cwd,
    environment,
    hooks: {
      beforeTool: ({ input }) => {
        if (String(input["command"]).startsWith("cat new/")) writeFileSync(join(cwd, "new/.env"), "KEY=SECRET\n");
      },
    },
  });
  // It appeared during a turn, so that it was disabled; it is hidden under its new name, too.
  expect(existsSync(join(cwd, "new/disabled-by-capstan.env"))).toBe(true);
  expect(said).toHaveLength(1 + tries.length + made.length);
  for (const text of said) expect(text).not.toContain("SECRET");
  expect(said[0]).toContain("open.txt:1:KEY=OPEN");
  expect(said.at(-3)).toContain("KEY=OPEN");
});

test("without a sandbox, asks about secret files and leaves them out of searches", async () => {
  await using place = await testHost(obedient);
  const { host, cwd } = place;
  fill(cwd);
  const reads: Step[] = SECRETS.map((path) => ["Read", { file_path: path }]);
  const said = await results(host, [SEARCH, ...reads, ["Read", { file_path: "packages/api/.env.example" }]], {
    agent: agent({ tools: ["Read", "Grep"], permissions: { mode: "normal" } }),
    cwd,
  });
  for (const text of said) expect(text).not.toContain("SECRET");
  expect(said[0]).toContain("open.txt:1:KEY=OPEN");
  expect(said.at(-1)).toContain("KEY=OPEN");
});
