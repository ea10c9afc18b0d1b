import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";
import { agentFile } from "../../src/config/agent-file-schema.ts";
import { agentDefinition } from "../../src/core/agent-definition.ts";
import { type Configuration, loadConfiguration } from "../../src/config/load.ts";
import { ofType, testHost, type TestHost } from "../support/host.ts";
import { call, say } from "../support/scripted-model.ts";
import { differences, type JsonSchema, leavesOf } from "./agent-pairs/leaves.ts";
import { observe, type OBSERVABLES, REFUSED } from "./agent-pairs/observables.ts";
import { type Pair, pair } from "./agent-pairs/pair.ts";
import { EXEMPT, PAIRS } from "./agent-pairs/pairs.ts";
import { type Files, files } from "./files.ts";

const schema = z.toJSONSchema(agentFile, { io: "input" }) as JsonSchema;
const leaves = leavesOf(schema);

const tool = (name: string): string =>
  `export const ${name} = { description: "d", input: { type: "object" }, handler: () => "" };\n`;
const skill = (name: string): string => `---\nname: ${name}\ndescription: d\n---\nDo it.\n`;
const BESIDE = {
  "a.md": "A.",
  "b.md": "B.",
  "base-a.yaml": "name: base\ninstructions: A.\n",
  "base-b.yaml": "name: base\ninstructions: B.\n",
  "sub-a.yaml": "name: sub\ndescription: d\ninstructions: A.\n",
  "sub-b.yaml": "name: sub\ndescription: d\ninstructions: B.\n",
  "a.mjs": tool("first"),
  "b.mjs": tool("second") + tool("third"),
  "skills/tidy/SKILL.md": skill("tidy"),
  "skills/greet/SKILL.md": skill("greet"),
  "CLAUDE.md": "Use tabs.",
  "files/one.md": "1",
  "files/two.txt": "2",
  "files/.gitignore": "*.txt\n",
  "more/three.md": "3",
  ".home/config.yaml": "budgets: { agents: { clerk: { usd: 1 } } }\n",
};

let tree: Files;
let hosts: TestHost;
/** One that has two credentials. */
let host: Awaited<ReturnType<TestHost["another"]>>;

beforeAll(async () => {
  tree = files(BESIDE);
  symlinkSync("one.md", tree.at("files/link.md"));
  const git = (...args: string[]): unknown =>
    execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.org", ...args], { cwd: tree.path });
  git("init", "-q", "-b", "main");
  for (const [directory, tag] of [["more", "v1"] as const, ["files", "v2"] as const]) {
    git("add", directory);
    git("commit", "-q", "-m", tag);
    git("tag", tag);
  }
  hosts = await testHost(({ toolResults }) => (toolResults.length > 0 ? say("Done.") : call("Bash", { command: "x" })));
  host = await hosts.another({ environment: { ...hosts.environment, ANTHROPIC_AUTH_TOKEN: "another-one" } });
});
afterAll(async () => {
  await host.close();
  await hosts[Symbol.asyncDispose]();
  tree[Symbol.dispose]();
});

function textOf({ both = "", lines }: Pair, which: 0 | 1): string {
  // A mapping has a key once.
  const given = `\n${both}\n${lines.join("\n")}`;
  const least = ["name: clerk", "model: claude-opus-4-8"].filter(
    (line) => !given.includes(`\n${line.slice(0, line.indexOf(" "))}`),
  );
  return [...least, both, lines[which], ""].join("\n");
}

/** What is seen of each file. */
async function seenOf(given: Pair): Promise<readonly [string, string]> {
  return [await look(given, 0), await look(given, 1)];
}

async function look(given: Pair, which: 0 | 1): Promise<string> {
  using scratch = files();
  writeFileSync(tree.at("agent.yaml"), textOf(given, which));
  const loaded = await loadConfiguration({
    cwd: tree.path,
    environment: { HOME: tree.path, CAPSTAN_HOME: tree.at(".home"), PATH: process.env["PATH"] ?? "" },
    flags: {},
    agentFile: "agent.yaml",
  });
  if (given.seen === "log" || given.seen === "model request") return lookAlive(given.seen, loaded);
  const text = await observe(given.seen, { loaded, cwd: tree.path, scratch: scratch.path, asked: given.asked ?? "" });
  return text.replaceAll(scratch.path, "/scratch");
}

/** In a real session, with the real CLI. */
async function lookAlive(seen: "log" | "model request", { agent, sessionEnvironment }: Configuration): Promise<string> {
  await using session = await host.startSession({ agent, environment: sessionEnvironment, cwd: hosts.cwd });
  await session.send("hello").result();
  const { headers = {} } = hosts.model.requests.at(-1) ?? {};
  if (seen === "model request") return JSON.stringify([headers["x-api-key"], headers["authorization"]]);
  const [asked] = ofType(await host.read(session.id), "capstan.approval_requested");
  return asked?.expires_at === null ? "for ever" : "for a while";
}

/** The leaves of which nobody has shown that they do anything. */
const unproven = (all: readonly string[]): string[] =>
  all.filter((leaf) => !Object.hasOwn(PAIRS, leaf) && !Object.hasOwn(EXEMPT, leaf));

describe("every field of an agent file", () => {
  test("has a pair of files that differ there alone, or a reason to have none", () => {
    expect(unproven(leaves)).toEqual([]);
    expect([...Object.keys(PAIRS), ...Object.keys(EXEMPT)].filter((leaf) => !leaves.includes(leaf))).toEqual([]);
  });

  test("is a field of the definition that the runtime knows, and that has no others", () => {
    const known = Object.keys(agentFile.shape);
    // In a file it is a part of the instructions.
    const missing = Object.keys(agentDefinition.shape).filter((field) => !known.includes(field));
    expect(missing).toEqual(["instructions_mode"]);
  });

  test.each(Object.entries(PAIRS))("%s can be seen", async (leaf, given) => {
    const [one, other] = [parse(textOf(given, 0)) as unknown, parse(textOf(given, 1)) as unknown];
    expect(differences(leaves, one, other)).toEqual([leaf]);
    const [seen, otherwise] = await seenOf(given);
    expect(seen, `${given.seen} does not show ${leaf}`).not.toBe(otherwise);
    // Two errors differ easily.
    if (given.refused !== true) expect([seen, otherwise].every((text) => text.startsWith(REFUSED))).toBe(false);
  });
});

describe("a field that does nothing", () => {
  test("is found when it is new, and nobody has shown anything of it", () => {
    const withDead: JsonSchema = { ...schema, properties: { ...schema.properties, temperature: {} } };
    expect(unproven(leavesOf(withDead))).toEqual(["temperature"]);
  });

  test.each<keyof typeof OBSERVABLES>([
    "sdk options",
    "decision",
    "limit",
    "hooks",
    "tools",
    "instructions",
    "workspace",
  ])("is found by what is looked at: %s", async (seen) => {
    const dead = pair(["$schema: a", "$schema: b"], seen, { asked: seen === "decision" ? "Bash(make all)" : "" });
    const [one, other] = await seenOf(dead);
    expect(one).toBe(other);
  });
});
