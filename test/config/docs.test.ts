import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { readAgentAsWritten } from "../../src/config/agent-file.ts";
import { layerEnvironment } from "../../src/config/environment.ts";
import { BUILT_IN_SETTINGS, readSettings, settingsFile } from "../../src/config/settings.ts";
import { files } from "./files.ts";

const page = readFileSync("docs/configuration.md", "utf8");
const blocks = [...page.matchAll(/^```yaml(?: (\w+))?\n([\s\S]*?)^```$/gm)].map(([, kind = "", text = ""]) => ({
  kind,
  text,
}));

test.each([
  ["docs/hooks.md", "hooks"],
  ["docs/tools.md", "custom_tools"],
] as const)("%s has an example of an agent that is valid", async (file, field) => {
  const [, text = ""] = /^```yaml agent\n([\s\S]*?)^```$/m.exec(readFileSync(file, "utf8")) ?? [];
  using tree = files({ "agent.yaml": text });
  expect((await readAgentAsWritten(tree.at("agent.yaml")))[field]).toBeDefined();
});

describe("docs/configuration.md", () => {
  test("shows settings and an agent", () => {
    expect(blocks.map(({ kind }) => kind)).toEqual(["settings", "agent"]);
  });

  test.each(blocks)("has an example of $kind that is valid", async ({ kind, text }) => {
    using tree = files({ "config.yaml": text });
    const value = kind === "agent" ? await readAgentAsWritten(tree.at("config.yaml")) : await readSettings(tree.path);
    expect(value).toBeDefined();
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
      .map((name) => [name, shown(valueAt(BUILT_IN_SETTINGS.environment, name.split(".")))]);
    expect(told).toEqual(Object.fromEntries(expected));
  });

  test("has every field of the settings with its default", () => {
    const section = /^## Settings$([\s\S]*?)^##/m.exec(page)?.[1] ?? "";
    const rows = [...section.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm)].map(([, name = "", value = ""]) => [name, value]);
    expect(rows.map(([name]) => name)).toEqual(Object.keys(settingsFile.shape));
    const { permissions, budget, budgets, prices, redact, environment, mount_roots, server, ...scalars } =
      BUILT_IN_SETTINGS;
    const told = Object.fromEntries(rows.map(([name, value = ""]) => [name, value.replaceAll("`", "")]));
    expect(told).toEqual({
      ...Object.fromEntries(Object.entries(scalars).map(([name, value]) => [name, String(value)])),
      permissions: `mode ${permissions.mode}`,
      budget: Object.keys(budget).length === 0 ? "no limits" : "",
      budgets: `reserve_output_tokens ${budgets.reserve_output_tokens}`,
      prices: Object.keys(prices).length === 0 ? "the list" : "",
      redact: redact.length === 0 ? "none" : "",
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
function shown(value: unknown): string {
  if (Array.isArray(value)) return value.join(", ") || "none";
  if (value === undefined || (typeof value === "object" && Object.keys(value ?? {}).length === 0)) return "none";
  return JSON.stringify(value).replaceAll('"', "");
}
