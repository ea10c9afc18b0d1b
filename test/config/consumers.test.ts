import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { loadConfiguration } from "../../src/config/load.ts";
import { settingsFile } from "../../src/config/settings.ts";
import { files } from "./files.ts";

/** field → a value that is not the default, and where it must arrive. The agent's fields have a test of their own. */
const ARRIVES: Readonly<Record<string, readonly [written: string, path: readonly string[], value: unknown]>> = {
  model: ["haiku", ["agent", "model"], "haiku"],
  on_crash: ["stop", ["settings", "on_crash"], "stop"],
  retries: ["1", ["settings", "retries"], 1],
  upstream_idle_ms: ["1", ["settings", "upstream_idle_ms"], 1],
  hibernate_after_ms: ["1", ["settings", "hibernate_after_ms"], 1],
  "permissions.mode": ["plan", ["agent", "permissions", "mode"], "plan"],
  "permissions.allow": ["[Bash]", ["agent", "permissions", "allow"], ["Bash"]],
  "permissions.ask": ["[Bash]", ["agent", "permissions", "ask"], ["Bash"]],
  "permissions.deny": ["[Bash]", ["agent", "permissions", "deny"], ["Bash"]],
  "budget.usd": ["1", ["agent", "budget", "usd"], 1],
  "budget.tokens": ["1", ["agent", "budget", "tokens"], 1],
  "budget.turns": ["1", ["agent", "budget", "turns"], 1],
  "budget.steps": ["1", ["agent", "budget", "steps"], 1],
  "budget.tool_calls": ["1", ["agent", "budget", "tool_calls"], 1],
  "budget.deadline_ms": ["1", ["agent", "budget", "deadline_ms"], 1],
};

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
}

function fieldsOf({ properties }: JsonSchema, path: readonly string[] = []): string[] {
  if (properties === undefined) return [path.join(".")];
  return Object.entries(properties).flatMap(([key, schema]) => fieldsOf(schema, [...path, key]));
}

describe("every field of a settings file", () => {
  test("is known here", () => {
    expect(fieldsOf(z.toJSONSchema(settingsFile, { io: "input" }) as JsonSchema)).toEqual(Object.keys(ARRIVES));
  });

  test.each(Object.entries(ARRIVES))("%s arrives", async (field, [written, path, value]) => {
    const [key = "", inner] = field.split(".");
    const text = inner === undefined ? `${key}: ${written}\n` : `${key}: { ${inner}: ${written} }\n`;
    using tree = files({ "app/.capstan/config.yaml": text });
    const configuration = await loadConfiguration({
      cwd: tree.at("app"),
      environment: { HOME: tree.path },
      flags: {},
    });
    expect(configuration).toHaveProperty([...path], value);
  });

  const source = readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !file.startsWith("config"))
    .map((file) => readFileSync(`src/${file}`, "utf8"))
    .join("\n");
  const settings = Object.values(ARRIVES).flatMap(([, [where, name = ""]]) => (where === "settings" ? [name] : []));
  test.each(settings)("%s is used outside of the configuration", (name) => {
    expect(source.includes(`settings.${name}`)).toBe(true);
  });
});
