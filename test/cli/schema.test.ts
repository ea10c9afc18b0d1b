import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { AGENT_FIELD_WORDS } from "../../src/config/agent/agent-field-docs.ts";
import { agentFileSchema, type JsonSchema } from "../../src/config/agent/agent-schema.ts";
import { schemaText } from "../../src/cli/agents/schema.ts";
import { TEMPLATES } from "../../src/cli/init/init.ts";
import { testCli } from "../support/cli.ts";

/** The fields that have a name, each by its path. */
function fieldsOf(schema: JsonSchema, path: readonly string[] = []): string[] {
  const { properties = {}, additionalProperties: others, items, anyOf = [], oneOf = [] } = schema;
  return [
    ...Object.entries(properties).flatMap(([key, inner]) => [
      [...path, key].join("."),
      ...fieldsOf(inner, [...path, key]),
    ]),
    ...(typeof others === "object" ? fieldsOf(others, [...path, "*"]) : []),
    ...(items ? fieldsOf(items, [...path, "*"]) : []),
    ...[...anyOf, ...oneOf].flatMap((one) => fieldsOf(one, path)),
  ];
}

test("the schema that is published is the one that the command prints", async () => {
  using cli = testCli();
  expect(readFileSync("schemas/agent.schema.json", "utf8")).toBe(schemaText());
  const { stdout, code } = await cli.run(["schema", "--out", "agent.schema.json"]);
  expect([stdout, code]).toEqual(["", 0]);
  expect(readFileSync(join(cli.cwd, "agent.schema.json"), "utf8")).toBe(schemaText());
});

test("every field has words for editors, and docs/agent-files.md has the same", () => {
  const fields = new Set(fieldsOf(agentFileSchema()));
  expect(Object.keys(AGENT_FIELD_WORDS).toSorted()).toEqual([...fields].toSorted());
  const page = readFileSync("docs/agent-files.md", "utf8");
  const rows = [...page.matchAll(/^\| `([^`]+)` \| (.+) \|$/gm)].map(([, field = "", words = ""]) => [field, words]);
  expect(Object.fromEntries(rows)).toEqual(AGENT_FIELD_WORDS);
});

test("an editor accepts what Capstan accepts, and marks what it refuses", () => {
  const accepts = new Ajv2020({ allErrors: true, strict: false }).compile(agentFileSchema());
  for (const template of Object.values(TEMPLATES)) {
    const text = template.files({ name: "clerk", schema: "x" })["agent.yaml"] ?? "";
    expect(accepts(parse(text)), JSON.stringify(accepts.errors)).toBe(true);
  }
  for (const agent of [
    { name: "a", mcp_servers: { far: { type: "http", url: "https://${HOST}/" } } },
    { name: "a", tools: { Bash: false, mcp__a__b: true }, instructions: { file: "x", mode: "append" } },
    { $schema: "x", extends: "b.yaml", subagents: { b: "b.yaml" }, output_schema: "c.json" },
  ])
    expect(accepts(agent), JSON.stringify(accepts.errors)).toBe(true);
  for (const agent of [{ nam: "a" }, { name: "A" }, { effort: "most" }, { tools: "Bash" }, { budget: { usd: 0 } }])
    expect(accepts(agent), JSON.stringify(agent)).toBe(false);
});
