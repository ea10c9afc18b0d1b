import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { readAgent } from "../../src/config/agent/agent-file.ts";
import { layerEnvironment } from "../../src/config/settings/environment.ts";
import { BUILT_IN_SETTINGS, readSettings } from "../../src/config/settings/settings.ts";
import { settingsFile } from "../../src/config/settings/settings-schema.ts";
import { files } from "./files.ts";

const page = readFileSync("docs/configuration.md", "utf8");
const blocks = [...page.matchAll(/^```yaml(?: (\w+))?\n([\s\S]*?)^```$/gm)].map(([, kind = "", text = ""]) => ({
  kind,
  text,
}));

/** What the agents in the documents name. */
const BESIDE = {
  "instructions.md": "Be brief.",
  "base.yaml": "tools: [Read, Grep, Bash]\n",
  "reviewers/clarity.yaml": "description: Looks for what is unclear.\ninstructions: Review.\ntools: [Read]\n",
  "prompts/release.md": "Write the notes of the release {{args}}.",
  "invoice.schema.json": '{ "type": "object" }',
  "skills/house-style/SKILL.md": "---\nname: house-style\ndescription: How we write.\n---\n",
  "tools/orders.ts": "",
};

const agents = readdirSync("docs", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".md"))
  .flatMap((file) =>
    [...readFileSync(`docs/${file}`, "utf8").matchAll(/^```yaml agent\n([\s\S]*?)^```$/gm)].map(([, text = ""]) => ({
      file,
      text,
    })),
  );

test.each(agents)("an agent in docs/$file is valid", ({ text }) => {
  using tree = files({ "agent.yaml": text, ...BESIDE });
  expect(readAgent(tree.at("agent.yaml"), {}).written.name).not.toBe("");
});

describe("docs/configuration.md", () => {
  test("shows settings and an agent", () => {
    expect(blocks.map(({ kind }) => kind)).toEqual(["settings", "agent"]);
  });

  test.each(blocks.filter(({ kind }) => kind === "settings"))("has settings that are valid", async ({ text }) => {
    using tree = files({ "config.yaml": text });
    expect(await readSettings(tree.path)).toBeDefined();
  });

  test("has every field of an environment with its default", () => {
    const section = /^### Environment$([\s\S]*?)^##/m.exec(page)?.[1] ?? "";
    const rows = [...section.matchAll(/^\| `([\w.]+)` \| ([^|]+) \|/gm)].map(([, name = "", value = ""]) => [
      name,
      value.replaceAll("`", ""),
    ]);
    const fields = fieldsOf(z.toJSONSchema(layerEnvironment, { io: "input" }) as JsonSchema);
    const told = Object.fromEntries(rows) as Record<string, string>;
    const expected = fields
      .map((name) => (name === "workspace" ? "workspace.kind" : name))
      .map((name) => [name, defaultText(valueAt(BUILT_IN_SETTINGS.environment, name.split(".")))]);
    expect(told).toEqual(Object.fromEntries(expected));
  });

  test("has every field of the settings with its default", () => {
    const section = /^## Settings$([\s\S]*?)^##/m.exec(page)?.[1] ?? "";
    const rows = [...section.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm)].map(([, name = "", value = ""]) => [name, value]);
    expect(rows.map(([name]) => name)).toEqual(Object.keys(settingsFile.shape));
    const { permissions, budget, budgets, prices, redact, auth, environment, mount_roots, server, ...scalars } =
      BUILT_IN_SETTINGS;
    const told = Object.fromEntries(rows.map(([name, value = ""]) => [name, value.replaceAll("`", "")]));
    expect(told).toEqual({
      ...Object.fromEntries(Object.entries(scalars).map(([name, value]) => [name, String(value)])),
      permissions: `mode ${permissions.mode}`,
      budget: Object.keys(budget).length === 0 ? "no limits" : "",
      budgets: `reserve_output_tokens ${budgets.reserve_output_tokens}`,
      prices: Object.keys(prices).length === 0 ? "the list" : "",
      redact: redact.length === 0 ? "none" : "",
      auth: Object.keys(auth).length === 0 ? "what is set" : "",
      environment: environment.workspace.kind === "in-place" ? "in place" : "",
      mount_roots: mount_roots.length === 0 ? "none" : "",
      server: Object.keys(server).length === 0 ? "see below" : "",
    });
  });
});

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
}

function fieldsOf({ properties }: JsonSchema, path: readonly string[] = []): string[] {
  if (properties === undefined) return [path.join(".")];
  return Object.entries(properties).flatMap(([key, schema]) => fieldsOf(schema, [...path, key]));
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, key) => (inner as Record<string, unknown>)[key], value);
}

/** A default as the page has it. */
function defaultText(value: unknown): string {
  if (Array.isArray(value)) return value.join(", ") || "none";
  if (value === undefined || (typeof value === "object" && Object.keys(value ?? {}).length === 0)) return "none";
  return JSON.stringify(value).replaceAll('"', "");
}
