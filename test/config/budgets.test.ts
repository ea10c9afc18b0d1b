import { describe, expect, test } from "vitest";
import { files } from "./files.ts";
import { loadTrusted } from "../support/trust.ts";

const load = (tree: { at(name: string): string }) =>
  loadTrusted({ cwd: tree.at("app"), environment: { HOME: tree.at("user") }, flags: {} });

describe("budgets and prices in settings", () => {
  test("merge value by value, and each value knows its file", async () => {
    using tree = files({
      "user/.capstan/config.yaml": `projects_may_loosen: true
budgets:
  project: { usd: 50, tokens: 1000 }
  day: { usd: 5, time_zone: Europe/Berlin }
  agents: { clerk: { usd: 1 }, reviewer: { usd: 2 } }
prices:
  "claude-*": { input: 1, output: 2 }
  tiny: { input: 1, output: 2 }
`,
      "app/.capstan/config.yaml": `budgets:
  project: { usd: 20, warn_at: 0.5 }
  agents: { clerk: { turns: 3 } }
prices:
  tiny: { input: 3, output: 4 }
`,
    });
    const configuration = await load(tree);
    const { settings } = configuration;
    const values = await configuration.values();
    expect(settings.budgets).toEqual({
      reserve_output_tokens: 1_024,
      project: { usd: 20, tokens: 1_000, warn_at: 0.5 },
      day: { usd: 5, time_zone: "Europe/Berlin" },
      agents: { clerk: { usd: 1, turns: 3 }, reviewer: { usd: 2 } },
    });
    // The project's pattern is asked first.
    expect(Object.entries(settings.prices)).toEqual([
      ["tiny", { input: 3, output: 4 }],
      ["claude-*", { input: 1, output: 2 }],
    ]);
    const sourceOf = (key: string) => values.find((value) => value.key === key)?.source;
    expect(sourceOf("budgets.project.usd")).toBe(`project (${tree.at("app/.capstan/config.yaml")})`);
    expect(sourceOf("budgets.project.tokens")).toBe(`user (${tree.at("user/.capstan/config.yaml")})`);
    expect(sourceOf("budgets.agents.clerk.turns")).toBe(`project (${tree.at("app/.capstan/config.yaml")})`);
    expect(sourceOf("budgets.reserve_output_tokens")).toBe("built in");
    expect(sourceOf("prices.tiny.input")).toBe(`project (${tree.at("app/.capstan/config.yaml")})`);
  });

  test.each([
    ["budgets: { project: { usd: -5 } }", "1:28 budgets.project.usd: expected a number greater than 0 (found -5)"],
    ["budgets: { project: { usd: 0 } }", "1:28 budgets.project.usd: expected a number greater than 0 (found 0)"],
    ["budgets: { day: { usd: 1e9 } }", "1:24 budgets.day.usd: expected at most 1000000 (found 1000000000)"],
    ["budgets: { day: { tokens: .inf } }", "1:27 budgets.day.tokens: expected a number (found Infinity)"],
    ["budgets: { day: { turns: 1.5 } }", "1:26 budgets.day.turns: expected a whole number (found 1.5)"],
    ["budgets: { project: { ask_at: 1.2 } }", "1:31 budgets.project.ask_at: expected at most 1 (found 1.2)"],
    [
      "budgets: { project: { warn_at: 0 } }",
      "1:32 budgets.project.warn_at: expected a number greater than 0 (found 0)",
    ],
    [
      "budgets:\n  day:\n    usd: 5\n    time_zone: Mars/Base",
      '4:16 budgets.day.time_zone: expected a time zone such as Europe/Berlin or UTC (found "Mars/Base")',
    ],
    [
      "budgets: { day: { time_zone: '+02:00' } }",
      '1:30 budgets.day.time_zone: expected a time zone such as Europe/Berlin or UTC (found "+02:00")',
    ],
    [
      "budgets: { week: { usd: 5 } }",
      "1:12 budgets.week: unknown key; known keys: project, day, agents, reserve_output_tokens",
    ],
    ["budgets: { project: { dollars: 5 } }", "1:23 budgets.project.dollars: unknown key"],
    ["budgets: { agents: { 'A b': { usd: 5 } } }", `1:22 budgets.agents."A b": expected an agent's name (found "A b")`],
    ["prices: { m: { input: 1 } }", "1:14 prices.m.output: expected a number (found nothing)"],
    ["prices: { m: { input: -1, output: 1 } }", "1:23 prices.m.input: expected a number of at least 0 (found -1)"],
  ])("%s is refused with its place", async (text, problem) => {
    using tree = files({ "app/.capstan/config.yaml": `${text}\n`, "user/": "" });
    await expect(load(tree)).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining(`${tree.at("app/.capstan/config.yaml")}:${problem}`) as string,
    });
  });
});
