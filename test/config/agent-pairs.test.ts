import { execFileSync } from "node:child_process";
import { symlinkSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { agentFile } from "../../src/config/agent/agent-file-schema.ts";
import type { Configuration } from "../../src/config/load.ts";
import { agentDefinition } from "../../src/core/agent/agent-definition.ts";
import { messageOf } from "../../src/core/errors.ts";
import type { JsonSchema } from "./agent-pairs/leaves.ts";
import { LIVE, LiveSessions } from "./agent-pairs/live.ts";
import { observe, OBSERVABLES, REFUSED } from "./agent-pairs/observables.ts";
import { type Pair, pair, textOf } from "./agent-pairs/pair.ts";
import { EXEMPT, PAIRS } from "./agent-pairs/pairs.ts";
import { flawIn, gapsOf } from "./agent-pairs/proof.ts";
import { type Files, files } from "./files.ts";
import { loadTrusted } from "../support/trust.ts";

const schemaOf = (file: z.ZodType): JsonSchema => z.toJSONSchema(file, { io: "input" }) as JsonSchema;
const schema = schemaOf(agentFile);

const tool = (name: string): string =>
  `export const ${name} = { description: "d", input: { type: "object" }, handler: () => "" };\n`;
const skill = (name: string): string => `---\nname: ${name}\ndescription: d\n---\nDo it.\n`;
const BESIDE = {
  "a.md": "A.",
  "b.md": "B.",
  "base-a.yaml": "name: base\ninstructions: A.\n",
  "base-b.yaml": "name: base\ninstructions: B.\n",
  "base-tools.yaml": "name: base\ntools: [Read, Bash]\n",
  "a.json": '{ "type": "object", "required": ["a"] }',
  "b.json": '{ "type": "object", "required": ["b"] }',
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
let live: LiveSessions;

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
  live = await LiveSessions.open();
});
afterAll(async () => {
  await live[Symbol.asyncDispose]();
  tree[Symbol.dispose]();
});

/** What is seen of one of the two files. */
async function look(given: Pair, which: 0 | 1, asWritten = textOf(given, which)): Promise<string> {
  const { seen, asked = "", refused = false } = given;
  const loaded = await load(asWritten).catch((thrown: unknown) => {
    if (!refused) throw thrown;
    return `${REFUSED}: ${messageOf(thrown)}`;
  });
  if (typeof loaded === "string") return loaded;
  if (isLive(seen)) return live.look(seen, { text: asWritten, loaded, asked });
  using scratch = files();
  const text = await observe(seen, { loaded, cwd: tree.path, scratch: scratch.path, asked });
  return text.replaceAll(scratch.path, "/scratch");
}

function provenBy(leaf: string): Pair {
  const found = PAIRS[leaf];
  if (found === undefined) throw new Error(`${leaf} has no pair`);
  return found;
}

const isLive = (seen: Pair["seen"]): seen is keyof typeof LIVE => Object.hasOwn(LIVE, seen);

async function load(text: string): Promise<Configuration> {
  writeFileSync(tree.at("agent.yaml"), text);
  const environment = { HOME: tree.path, CAPSTAN_HOME: tree.at(".home"), PATH: process.env["PATH"] ?? "" };
  return loadTrusted({ cwd: tree.path, environment, flags: {}, agentFile: "agent.yaml" });
}

describe("every field of an agent file", () => {
  test("has a pair of files that differ there alone, for each of its forms, or a reason to have none", () => {
    expect(gapsOf({ schema, pairs: PAIRS, exempt: EXEMPT })).toEqual([]);
  });

  test("is a field of the definition that the runtime knows, and that has no others", () => {
    const known = Object.keys(agentFile.shape);
    // In a file it is a part of the instructions.
    const missing = Object.keys(agentDefinition.shape).filter((field) => !known.includes(field));
    expect(missing).toEqual(["instructions_mode"]);
  });

  test.each(Object.entries(PAIRS))("%s can be seen", async (leaf, given) => {
    expect(await flawIn(leaf, given, { schema, look })).toBeUndefined();
  });

  const decided = Object.entries(PAIRS).filter(([, { seen }]) => seen === "decision");
  test.each(decided)("what would be decided about %s is what a session decides", async (_, given) => {
    for (const which of [0, 1] as const)
      expect(await look({ ...given, seen: "explained decision" }, which)).toBe(await look(given, which));
  });
});

/** What an observable is asked that cannot do without. */
const ASKED: Readonly<Record<string, string>> = { "explained decision": "Bash(make all)", message: "hello" };

const withDead = schemaOf(agentFile.extend({ temperature: z.number().optional() }));
const dead = (seen: Pair["seen"]): Pair =>
  pair(["temperature: 0", "temperature: 1"], seen, { both: "tools: [Bash]", asked: ASKED[seen] ?? "" });
/** It is in the schema and nobody reads it: what the rest sees is the file without it. */
const lookPast = (given: Pair, which: 0 | 1): Promise<string> =>
  look(given, which, textOf(given, which).replace(/^temperature: .*$/m, ""));

describe("a field that does nothing", () => {
  test("is found when nobody has shown anything of it", () => {
    expect(gapsOf({ schema: withDead, pairs: PAIRS, exempt: EXEMPT })).toEqual(["temperature has no pair of files"]);
  });

  test("is found when it is a new way to write an old one", () => {
    const withForm = schemaOf(agentFile.extend({ skills: z.union([z.string(), agentFile.shape.skills.unwrap()]) }));
    const gaps = gapsOf({ schema: withForm, pairs: PAIRS, exempt: EXEMPT });
    expect(gaps).toContain("skills[text] has no pair of files");
  });

  test.each(Object.keys(OBSERVABLES) as (keyof typeof OBSERVABLES)[])("is found by what is seen: %s", async (seen) => {
    const flaw = await flawIn("temperature", dead(seen), { schema: withDead, look: lookPast });
    expect(flaw).toMatch(`${seen} does not show temperature: `);
  });

  test.each(["permissions.approvals_expire_ms", "environment.checkpoints.mode"])(
    "is found in a session, as %s is where it does nothing",
    async (leaf) => {
      for (const seen of ["decision", "model request"] as const)
        expect(await flawIn(leaf, { ...provenBy(leaf), seen }, { schema, look })).toMatch(
          `${seen} does not show ${leaf}: `,
        );
    },
  );

  test("is not proven by a pair that differs elsewhere too, or by a pair that is refused as a whole", async () => {
    const elsewhere = pair(["temperature: 0\neffort: low", "temperature: 1\neffort: high"], "sdk options");
    expect(await flawIn("temperature", elsewhere, { schema: withDead, look: lookPast })).toBe(
      "the files differ at temperature, effort, and not at temperature alone",
    );
    const { refused: _, ...careless } = provenBy("inputs.*[string].description");
    expect(await flawIn("inputs.*[string].description", careless, { schema, look })).toMatch(
      "both files are refused: ",
    );
  });
});
