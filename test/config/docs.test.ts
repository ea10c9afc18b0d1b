import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readAgentAsWritten } from "../../src/config/agent-file.ts";
import { BUILT_IN_SETTINGS, readSettings, settingsFile } from "../../src/config/settings.ts";
import { files } from "./files.ts";

const page = readFileSync("docs/configuration.md", "utf8");
const blocks = [...page.matchAll(/^```yaml(?: (\w+))?\n([\s\S]*?)^```$/gm)].map(([, kind = "", text = ""]) => ({
  kind,
  text,
}));

test("docs/hooks.md has an example of an agent that is valid", async () => {
  const [, text = ""] = /^```yaml agent\n([\s\S]*?)^```$/m.exec(readFileSync("docs/hooks.md", "utf8")) ?? [];
  using tree = files({ "agent.yaml": text });
  expect((await readAgentAsWritten(tree.at("agent.yaml"))).hooks).toBeDefined();
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

  test("has every field of the settings with its default", () => {
    const section = /^## Settings$([\s\S]*?)^## /m.exec(page)?.[1] ?? "";
    const rows = [...section.matchAll(/^\| `(\w+)` \| ([^|]+) \|/gm)].map(([, name = "", value = ""]) => [name, value]);
    expect(rows.map(([name]) => name)).toEqual(Object.keys(settingsFile.shape));
    const { permissions, budget, budgets, prices, redact, ...scalars } = BUILT_IN_SETTINGS;
    const told = Object.fromEntries(rows.map(([name, value = ""]) => [name, value.replaceAll("`", "")]));
    expect(told).toEqual({
      ...Object.fromEntries(Object.entries(scalars).map(([name, value]) => [name, String(value)])),
      permissions: `mode ${permissions.mode}`,
      budget: Object.keys(budget).length === 0 ? "no limits" : "",
      budgets: `reserve_output_tokens ${budgets.reserve_output_tokens}`,
      prices: Object.keys(prices).length === 0 ? "the list" : "",
      redact: redact.length === 0 ? "none" : "",
    });
  });
});
