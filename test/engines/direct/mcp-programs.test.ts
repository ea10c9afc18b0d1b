import { createHash } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { until } from "../../support/until.ts";
import { openServers, program, support } from "./open-servers.ts";
import { textOf } from "./tool-workspace.ts";

test("programs count for the limits of their session, and are killed at once with it", async () => {
  await using t = await openServers(() => ({ office: program("mcp-server.ts"), second: program("mcp-server.ts") }));
  const use = t.use();
  expect(use.processes).toBeGreaterThanOrEqual(2);
  expect(use.memory_bytes).toBeGreaterThan(10_000_000);
  expect(use.cpu_seconds).toBeGreaterThan(0);
  t.kill();
  await until(
    () => t.use(),
    ({ processes }) => processes === 0,
  );
  // What they have used is used.
  expect(t.use().cpu_seconds).toBeGreaterThanOrEqual(use.cpu_seconds);
  expect((await t.call("mcp__office__act", { what: "sweep" })).isError).toBe(true);
  expect(t.use().processes).toBe(0);
});

const SERVER = `await import(${JSON.stringify(support("mcp-bad-server.ts"))});\n`;
const at = (path: string): string => join(path, "server.mjs");

test("a program whose file is not as trusted is started neither first nor again", async () => {
  const servers = (path: string) => {
    writeFileSync(at(path), SERVER);
    return { bad: { command: process.execPath, args: [at(path)], env: {} } };
  };
  const trusted = (text: string) => (path: string) => ({
    bad: { [at(path)]: createHash("sha256").update(text).digest("hex") },
  });
  await expect(openServers(servers, { files: trusted("another text") })).rejects.toMatchObject({
    code: "engine_failed",
    data: { servers: ["bad"] },
  });

  await using t = await openServers(servers, { files: trusted(SERVER) });
  const mark = join(t.path, "started");
  writeFileSync(at(t.path), `(await import("node:fs")).writeFileSync(${JSON.stringify(mark)}, "");\n${SERVER}`);
  expect(textOf(await t.call("mcp__bad__die"))).toContain("The next call restarts it.");
  const again = await t.call("mcp__bad__live");
  expect(again.isError).toBe(true);
  expect(textOf(again)).toContain("The MCP server bad did not restart");
  expect(existsSync(mark)).toBe(false);
  // It is the file that kept it from starting.
  writeFileSync(at(t.path), SERVER);
  expect(textOf(await t.call("mcp__bad__live"))).toBe("live done");
});
