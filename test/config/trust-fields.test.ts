import { describe, expect, test } from "vitest";
import { z } from "zod";
import { agentFile } from "../../src/config/agent/agent-file-schema.ts";
import type { JsonSchema } from "../../src/config/agent/agent-schema.ts";
import { projectFile } from "../../src/config/settings/settings-schema.ts";
import { AGENT_RULES, ruleAt, type FieldRules, SETTINGS_RULES, SUITE_RULES } from "../../src/config/trust/fields.ts";
import { judgeValues } from "../../src/config/trust/judge.ts";
import { suiteAsWritten } from "../../src/core/suite/suite-schema.ts";

/** Every place of a file that holds a value, with `*` for any name or entry. */
function placesIn(schema: JsonSchema, path: readonly string[] = []): string[] {
  const { properties = {}, additionalProperties: others, items, anyOf = [], oneOf = [] } = schema;
  const inner = [
    ...Object.entries(properties).flatMap(([key, one]) => placesIn(one, [...path, key])),
    ...(typeof others === "object" ? placesIn(others, [...path, "*"]) : []),
    ...(items === undefined ? [] : placesIn(items, [...path, "*"])),
    ...[...anyOf, ...oneOf].flatMap((one) => placesIn(one, path)),
  ];
  return inner.length === 0 ? [path.join(".")] : [...new Set(inner)];
}

const FILES = [
  ["a project's settings", projectFile, SETTINGS_RULES],
  ["an agent file", agentFile, AGENT_RULES],
  ["a suite", suiteAsWritten, SUITE_RULES],
] as const satisfies readonly (readonly [string, z.ZodType, FieldRules])[];

describe.each(FILES)("%s", (_, schema, rules) => {
  const places = placesIn(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as JsonSchema);

  test("has a rule for every field", () => {
    expect(places.length).toBeGreaterThan(20);
    // The path of a subagent's file is its content once the file is read.
    const judged = places.filter((place) => place !== "subagents.*");
    expect(judged.filter((place) => ruleAt(rules, place.split(".")) === undefined)).toEqual([]);
  });

  test("has no rule for a field that does not exist", () => {
    // The instructions' mode is a field of its own once the file is read.
    const unknown = Object.keys(rules).filter(
      (rule) =>
        rule !== "instructions_mode" &&
        !places.some((place) => `${place}.`.startsWith(`${rule}.`) || fits(rule, place)),
    );
    expect(unknown).toEqual([]);
  });
});

function fits(rule: string, place: string): boolean {
  const [steps, path] = [rule.split("."), place.split(".")];
  return steps.length <= path.length && steps.every((step, index) => step === "*" || step === path[index]);
}

test("a field that no rule knows widens", () => {
  expect(judgeValues({ model: "claude-opus-4-8", brand_new: 1 }, { model: "claude-opus-4-8" }, SETTINGS_RULES)).toEqual(
    {
      kept: { model: "claude-opus-4-8" },
      widens: [{ field: "brand_new", value: 1, isRequired: false }],
    },
  );
});

describe("compared with the layers below,", () => {
  const below = {
    model: "claude-opus-4-8",
    on_crash: "stop",
    retries: 6,
    permissions: { mode: "normal", allow: ["Read"], ask: [], deny: [] },
    budget: { usd: 5 },
    budgets: { reserve_output_tokens: 1024, day: { usd: 10, time_zone: "UTC" } },
    environment: {
      workspace: { kind: "in-place", when_busy: "wait" },
      checkpoints: { mode: "on", max_files: 100, exclude: ["node_modules/"] },
      sandbox: { mode: "preferred", auto_allow_sandboxed: false, network: { allow: ["a.example", "b.example"] } },
      limits: { processes: 10 },
    },
  };

  test.each([
    [{ permissions: { mode: "plan" } }],
    [{ permissions: { deny: ["Bash"], ask: ["Write"] } }],
    [{ permissions: { allow: ["Read"] } }],
    [{ budget: { usd: 4, tokens: 1 } }],
    [{ budgets: { day: { usd: 9 }, reserve_output_tokens: 2000, agents: { clerk: { usd: 1 } } } }],
    [{ environment: { sandbox: { mode: "required", network: { allow: ["a.example"] }, deny_read: ["~/x"] } } }],
    [{ environment: { sandbox: { auto_allow_sandboxed: false } } }],
    [{ environment: { workspace: { kind: "worktree" } } }],
    [{ environment: { workspace: { kind: "copy", mounts: [{ source: "./src" }] } } }],
    [{ environment: { limits: { processes: 9, cpu_seconds: 1 } } }],
    [{ environment: { checkpoints: { mode: "required", max_files: 200 } } }],
    [{ model: "claude-haiku-4-5" }],
    [{ redact: [{ name: "x", pattern: "y" }] }],
  ])("%j holds without trust", (values) => {
    expect(judgeValues(values, below, SETTINGS_RULES)).toEqual({ kept: values, widens: [] });
  });

  test.each([
    [{ permissions: { mode: "yolo" } }, "permissions.mode"],
    [{ permissions: { mode: "accept-edits" } }, "permissions.mode"],
    [{ permissions: { allow: ["Read", "Bash"] } }, "permissions.allow"],
    [{ budget: { usd: 6 } }, "budget.usd"],
    [{ budgets: { day: { time_zone: "Asia/Tokyo" } } }, "budgets.day.time_zone"],
    [{ budgets: { reserve_output_tokens: 1 } }, "budgets.reserve_output_tokens"],
    [{ prices: { "*": { input: 0, output: 0 } } }, "prices"],
    [{ on_crash: "continue" }, "on_crash"],
    [{ model: "claude-opus-4-1" }, "model"],
    [{ model: "unheard-of" }, "model"],
    [{ auth: { provider: "bedrock" } }, "auth.provider"],
    [{ environment: { variables: { PATH: "/evil" } } }, "environment.variables"],
    [{ environment: { sandbox: { mode: "off" } } }, "environment.sandbox.mode"],
    [{ environment: { sandbox: { auto_allow_sandboxed: true } } }, "environment.sandbox.auto_allow_sandboxed"],
    [{ environment: { sandbox: { network: { allow: ["evil.example"] } } } }, "environment.sandbox.network.allow"],
    [{ environment: { sandbox: { excluded_commands: ["sh"] } } }, "environment.sandbox.excluded_commands"],
    [{ environment: { checkpoints: { mode: "off" } } }, "environment.checkpoints.mode"],
    [{ environment: { checkpoints: { exclude: ["*"] } } }, "environment.checkpoints.exclude"],
    [{ environment: { limits: { processes: 11 } } }, "environment.limits.processes"],
  ])("%j widens", (values, field) => {
    const { kept, widens } = judgeValues<object>(values, below, SETTINGS_RULES);
    expect(widens.map((one) => [one.field, one.isRequired])).toEqual([[field, false]]);
    expect(JSON.stringify(kept)).not.toMatch(
      /yolo|evil|Bash|continue|Tokyo|bedrock|unheard|opus-4-1|"sh"|: ?0|true|off|11|6/,
    );
  });

  test.each([
    [{ hooks: { before_tool: [{ command: "./check" }] } }, "hooks"],
    [{ functions: [{ module: "/x.js" }] }, "functions"],
    [{ mcp_servers: { x: { command: "x" } } }, "mcp_servers"],
    [{ environment: { workspace: { kind: "copy", mounts: [{ source: "~/letters" }] } } }, "environment.workspace"],
    [{ environment: { workspace: { kind: "copy", mounts: [{ source: "a/../../b" }] } } }, "environment.workspace"],
    [{ environment: { workspace: { kind: "clone", from: "https://evil.example/x" } } }, "environment.workspace"],
    [{ environment: { workspace: { kind: "clone", from: "git@evil.example:x" } } }, "environment.workspace"],
  ])("nothing starts without trust in %j", (values, field) => {
    const { widens } = judgeValues<object>(values, below, AGENT_RULES);
    expect(widens.map((one) => [one.field, one.isRequired])).toEqual([[field, true]]);
  });

  test("an agent's tools are those that stay in the workspace", () => {
    const { kept, widens } = judgeValues({ tools: ["Read", "WebFetch", "mcp__x__y"] }, below, AGENT_RULES);
    expect(kept).toEqual({ tools: ["Read"] });
    expect(widens).toMatchObject([{ field: "tools", value: ["WebFetch", "mcp__x__y"] }]);
  });

  test.each([
    [{ cases: [{ name: "a", answers: [{ tool: "Bash", decision: "allow" }] }] }, "cases.0.answers"],
    [{ defaults: { graders: [{ command: "make" }] }, cases: [] }, "defaults.graders.0.command"],
    [{ cases: [{ name: "a", graders: [{ code: { module: "x.js" } }] }] }, "cases.0.graders.0.code"],
    [{ cases: [{ name: "a", variables: { PATH: "/evil" } }] }, "cases.0.variables"],
  ])("the suite %j is not run without trust", (suite, field) => {
    const { widens } = judgeValues<object>(suite, {}, SUITE_RULES);
    expect(widens.map((one) => [one.field, one.isRequired])).toEqual([[field, true]]);
  });

  test("a suite that only denies and compares needs no trust", () => {
    const suite = {
      cases: [{ name: "a", answers: [{ tool: "Bash", decision: "deny" }], graders: [{ contains: "x", turn: 1 }] }],
    };
    expect(judgeValues(suite, {}, SUITE_RULES)).toEqual({ kept: suite, widens: [] });
  });
});
