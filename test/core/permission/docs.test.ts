import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readSettings } from "../../../src/config/settings/settings.ts";
import { MODES } from "../../../src/core/agent/agent-definition.ts";
import { STEPS } from "../../../src/core/permission/decide.ts";
import { PROTECTED } from "../../../src/core/permission/protected/table.ts";
import { parseRule } from "../../../src/core/rules/rule.ts";
import { OPTIONS_THAT_ACT } from "../../../src/core/shell/effects/table.ts";
import { files } from "../../config/files.ts";

const page = readFileSync("docs/permissions.md", "utf8");

function section(title: string): string {
  return new RegExp(`^## ${title}$([\\s\\S]*?)(?=^## |(?![\\s\\S]))`, "m").exec(page)?.[1] ?? "";
}

describe("docs/permissions.md", () => {
  const cells = [...section("Rules").matchAll(/^\| (`.*?`) \|/gm)].map(([, cell = ""]) => cell);
  const rules = cells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, rule = ""]) => rule));

  test("shows rules of every kind", () => {
    const kinds = new Set(rules.map((rule) => parseRule(rule).kind));
    expect(kinds).toEqual(new Set(["any", "tool", "command", "path", "domain", "mcp", "subagent", "skill"]));
  });

  test("has an example that is valid", async () => {
    const text = /^```yaml settings\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? "";
    using tree = files({ "config.yaml": text });
    expect(await readSettings(tree.path)).toMatchObject({ values: { permissions: { mode: "normal" } } });
  });

  test("has every option that a rule has to name", () => {
    const rows = Object.entries(OPTIONS_THAT_ACT).map(([program, acts]) => {
      const said = Object.entries(acts).map(
        ([does, options]) => `${does}: ${options.replaceAll(/\S+/g, (option) => `\`${option}\``)}`,
      );
      return `| \`${program}\` | ${said.join("; ")} |`;
    });
    expect(section("Shell commands")).toContain(`| program | options |\n|---|---|\n${rows.join("\n")}\n\n`);
  });

  test("has every mode and every step of the order", () => {
    expect([...section("Modes").matchAll(/^\| ([a-z-]+) \|/gm)].map(([, mode]) => mode)).toEqual(["mode", ...MODES]);
    expect(section("The order").match(/^\d+\. /gm)).toHaveLength(STEPS.length);
  });

  test("has every protected path, with who reads it and what it holds", () => {
    const shown = [...section("Protected paths").matchAll(/^\| (`.*`) \| (.*?) \| (.*?) \|$/gm)].flatMap(
      ([, cell = "", readBy = "", why = ""]) =>
        [...cell.matchAll(/`([^`]+)`/g)].map(([, pattern = ""]) => ({ pattern, readBy, why })),
    );
    expect(shown).toEqual(PROTECTED);
  });
});
