import { describe, expect, test } from "vitest";
import type { Configuration, LoadOptions } from "../../src/config/load.ts";
import { DEFAULT_MODEL } from "../../src/config/settings/settings.ts";
import { type Files, files } from "./files.ts";
import { loadTrusted } from "../support/trust.ts";

/** The configuration of `app` in a tree whose user is `user`. */
function load(tree: Files, { environment, ...more }: Partial<LoadOptions> = {}): Promise<Configuration> {
  return loadTrusted({
    cwd: tree.at("app"),
    environment: { HOME: tree.at("user"), ...environment },
    flags: {},
    ...more,
  });
}

/** Where each value came from, with the tree's own path left out. */
async function sources(tree: Files, configuration: Configuration): Promise<Record<string, string>> {
  const values = await configuration.values();
  return Object.fromEntries(
    // What environments say has tests of its own.
    values
      .filter(({ key }) => !key.startsWith("environment."))
      .map(({ key, value, source }) => [
        key.startsWith("permissions.") && key !== "permissions.mode" ? `${key} ${String(value)}` : key,
        source.replace(`${tree.path}/`, ""),
      ]),
  );
}

describe("a configuration", () => {
  test("without any file is the built-in one", async () => {
    using tree = files({ "app/": "", "user/": "" });
    const configuration = await load(tree);
    expect(configuration).toMatchObject({
      home: tree.at("user/.capstan"),
      project: { root: undefined, id: "default" },
      environment: { HOME: tree.at("user") },
      settings: {
        on_crash: "stop",
        retries: 6,
        upstream_idle_ms: 120_000,
        credential_wait_ms: 1_800_000,
        hibernate_after_ms: 600_000,
      },
      credentials: [],
    });
    expect(configuration.agent).toEqual({
      name: "assistant",
      instructions: expect.stringMatching(/working directory/),
      model: DEFAULT_MODEL,
      tools: ["Read", "Glob", "Grep", "Write", "Edit", "Bash"],
      permissions: { mode: "normal", allow: [], ask: [], deny: [] },
      budget: {},
      subagents: {},
    });
    const values = await configuration.values();
    expect(new Set(values.map(({ source }) => source))).toEqual(new Set(["built in"]));
    expect(values.map(({ key }) => key)).toEqual([
      "home",
      "project",
      "name",
      "instructions",
      "tools",
      "engine",
      "model",
      "on_crash",
      "retries",
      "upstream_idle_ms",
      "credential_wait_ms",
      "hibernate_after_ms",
      "permissions.mode",
      "budgets.reserve_output_tokens",
      "environment.workspace.kind",
      "environment.workspace.when_busy",
      "environment.checkpoints.mode",
      "environment.checkpoints.max_file_bytes",
      "environment.checkpoints.max_files",
      "environment.checkpoints.max_bytes",
      "environment.checkpoints.exclude",
      "environment.sandbox.mode",
      "environment.sandbox.auto_allow_sandboxed",
      "hooks_outside_sandbox",
      "graders_outside_sandbox",
      "projects_may_loosen",
    ]);
  });

  test("takes each value from the last that gives it, where the user lets projects: user, project, agent, flag", async () => {
    using tree = files({
      "user/.capstan/config.yaml": `model: of-user
projects_may_loosen: true
on_crash: continue
retries: 1
permissions: { mode: plan, allow: [Read], deny: [WebFetch] }
budget: { usd: 1, tokens: 1000, turns: 10, steps: 11 }
`,
      "app/.capstan/config.yaml": `model: of-project
retries: 2
upstream_idle_ms: 5000
permissions: { mode: read-only, ask: [Bash], allow: [WebFetch, Read] }
budget: { usd: 2, tokens: 2000, turns: 20 }
`,
      "app/agent.yaml": `name: clerk
model: of-agent
tools: [Read]
permissions: { mode: accept-edits, deny: [Write] }
budget: { usd: 3, tokens: 3000 }
`,
    });
    const flags = { model: "of-flag", max_usd: 4, timeout_ms: 60_000, allow: ["Edit", "Read"] };
    const configuration = await load(tree, { agentFile: "agent.yaml", flags });
    expect(configuration.agent).toEqual({
      name: "clerk",
      instructions: "",
      model: "of-flag",
      tools: ["Read"],
      permissions: {
        mode: "accept-edits",
        allow: ["Read", "WebFetch", "Edit"],
        ask: ["Bash"],
        deny: ["WebFetch", "Write"],
      },
      budget: { usd: 4, tokens: 3000, turns: 20, steps: 11, deadline_ms: 60_000 },
      subagents: {},
    });
    expect(configuration.settings).toMatchObject({
      on_crash: "continue",
      retries: 2,
      upstream_idle_ms: 5000,
      hibernate_after_ms: 600_000,
      budgets: { reserve_output_tokens: 1_024 },
      prices: {},
    });
    expect(await sources(tree, configuration)).toEqual({
      home: "built in",
      project: "project (app/.capstan)",
      name: "agent (app/agent.yaml)",
      instructions: "built in",
      tools: "agent (app/agent.yaml)",
      model: "flag --model",
      on_crash: "user (user/.capstan/config.yaml)",
      retries: "project (app/.capstan/config.yaml)",
      upstream_idle_ms: "project (app/.capstan/config.yaml)",
      credential_wait_ms: "built in",
      engine: "built in",
      hibernate_after_ms: "built in",
      hooks_outside_sandbox: "built in",
      graders_outside_sandbox: "built in",
      projects_may_loosen: "user (user/.capstan/config.yaml)",
      "permissions.mode": "agent (app/agent.yaml)",
      "permissions.allow Read": "user (user/.capstan/config.yaml)",
      "permissions.allow WebFetch": "project (app/.capstan/config.yaml)",
      "permissions.allow Edit": "flag --allow",
      "permissions.ask Bash": "project (app/.capstan/config.yaml)",
      "permissions.deny WebFetch": "user (user/.capstan/config.yaml)",
      "permissions.deny Write": "agent (app/agent.yaml)",
      "budget.usd": "flag --max-usd",
      "budget.tokens": "agent (app/agent.yaml)",
      "budget.turns": "project (app/.capstan/config.yaml)",
      "budget.steps": "user (user/.capstan/config.yaml)",
      "budget.deadline_ms": "flag --timeout",
      "budgets.reserve_output_tokens": "built in",
    });
  });

  test("gives the built-in agent the user's model and rules", async () => {
    using tree = files({ "app/": "", "user/.capstan/config.yaml": "model: haiku\npermissions: { deny: [Bash] }\n" });
    expect((await load(tree)).agent).toMatchObject({
      name: "assistant",
      model: "haiku",
      permissions: { deny: ["Bash"] },
    });
  });

  test("does not let an agent that says nothing of a mode undo the user's", async () => {
    using tree = files({ "app/agent.yaml": "name: a\n", "user/.capstan/config.yaml": "permissions: { mode: plan }\n" });
    expect((await load(tree, { agentFile: "agent.yaml" })).agent.permissions.mode).toBe("plan");
  });

  test("tells subagents and an output schema with the agent that has them", async () => {
    const agent = "name: a\nsubagents: { b: { description: x, instructions: y } }\noutput_schema: { type: object }\n";
    using tree = files({ "app/agent.yaml": agent });
    const values = await (await load(tree, { agentFile: tree.at("app/agent.yaml") })).values();
    const source = `agent (${tree.at("app/agent.yaml")})`;
    expect(values).toContainEqual({ key: "output_schema", value: { type: "object" }, source });
    expect(values).toContainEqual({
      key: "subagents",
      value: { b: { description: "x", instructions: "y" } },
      source,
    });
  });

  test("is kept where CAPSTAN_HOME says", async () => {
    using tree = files({ "app/": "", "data/config.yaml": "retries: 0\n", "user/.capstan/config.yaml": "retries: 9\n" });
    const configuration = await load(tree, { environment: { CAPSTAN_HOME: tree.at("data") } });
    expect(configuration.settings.retries).toBe(0);
    expect(await configuration.values()).toContainEqual({
      key: "home",
      value: tree.at("data"),
      source: "environment CAPSTAN_HOME",
    });
  });

  test("needs a home", async () => {
    using tree = files({ "app/": "" });
    await expect(load(tree, { environment: { HOME: undefined } })).rejects.toThrow(
      expect.objectContaining({ code: "invalid_input", message: expect.stringMatching(/Set CAPSTAN_HOME/) }),
    );
  });
});

describe("a settings file", () => {
  test.each(["", "# later\n", "{}\n"])("that says %j decides nothing", async (text) => {
    using tree = files({ "app/": "", "user/.capstan/config.yaml": text });
    expect((await load(tree)).settings.retries).toBe(6);
  });

  test.each([
    ["modle: x", '1:1 modle: unknown key; did you mean "model"?'],
    [
      "name: x",
      "1:1 name: unknown key; known keys: engine, model, on_crash, retries, upstream_idle_ms, credential_wait_ms, hibernate_after_ms, permissions, budget, budgets, prices, redact, auth, environment, mount_roots, server, hooks_outside_sandbox, graders_outside_sandbox, projects_may_loosen",
    ],
    ["on_crash: go-on", '1:11 on_crash: expected one of continue, stop (found "go-on")'],
    ["retries: -1", "1:10 retries: expected a number of at least 0 (found -1)"],
    ["upstream_idle_ms: 2m", '1:19 upstream_idle_ms: expected a number (found "2m")'],
    ["upstream_idle_ms: 0", "1:19 upstream_idle_ms: expected a number greater than 0 (found 0)"],
    ["hibernate_after_ms: 3e9", "1:21 hibernate_after_ms: expected at most 2147483647 (found 3000000000)"],
    [
      "permissions: { mode: none }",
      '1:22 permissions.mode: expected one of normal, accept-edits, read-only, plan, yolo (found "none")',
    ],
    ["budget: { usd: free }", '1:16 budget.usd: expected a number (found "free")'],
  ])("with %s is refused, by its name", async (text, problem) => {
    using tree = files({ "app/.capstan/config.yaml": `${text}\n` });
    await expect(load(tree)).rejects.toThrow(
      expect.objectContaining({
        code: "invalid_input",
        message: `${tree.at("app/.capstan/config.yaml")}:${problem}`,
      }),
    );
  });

  test("that is a directory is refused", async () => {
    using tree = files({ "app/": "", "user/.capstan/config.yaml/": "" });
    await expect(load(tree)).rejects.toThrow(
      `Cannot read the settings file ${tree.at("user/.capstan/config.yaml")}: it is a directory.`,
    );
  });

  test.each(["config.yml", "config.json", "settings.yaml", "settings.json"])(
    "by the name %s is not overlooked in silence",
    async (name) => {
      using tree = files({ [`app/.capstan/${name}`]: "retries: 1\n" });
      const directory = tree.at("app/.capstan");
      await expect(load(tree)).rejects.toThrow(
        `${directory}/${name} is not used. Rename it to ${directory}/config.yaml and write it as YAML.`,
      );
    },
  );
});

describe("a flag", () => {
  test.each<[LoadOptions["flags"], string, unknown]>([
    [{ model: "m" }, "model", "m"],
    [{ mode: "yolo" }, "permissions.mode", "yolo"],
    [{ allow: ["Bash"] }, "permissions.allow", "Bash"],
    [{ max_usd: 0.5 }, "budget.usd", 0.5],
    [{ max_steps: 3 }, "budget.steps", 3],
    [{ timeout_ms: 1000 }, "budget.deadline_ms", 1000],
  ])("%j sets %s", async (flags, key, value) => {
    using tree = files({ "app/": "" });
    const values = await (await load(tree, { flags })).values();
    expect(values).toContainEqual({ key, value, source: expect.stringMatching(/^flag --/) });
  });

  test.each<[LoadOptions["flags"], string]>([
    [{ model: "" }, '--model: expected text that is not empty (found "")'],
    [{ max_usd: 0 }, "--max-usd: expected a number greater than 0 (found 0)"],
    [{ max_steps: 1.5 }, "--max-steps: expected a whole number (found 1.5)"],
    [{ timeout_ms: 0 }, "--timeout: expected a number greater than 0 (found 0)"],
    [{ allow: ["Bash(ls"] }, '--allow: expected a closing parenthesis at the end of the rule (found "Bash(ls")'],
  ])("such as %j is refused", async (flags, message) => {
    using tree = files({ "app/": "" });
    await expect(load(tree, { flags })).rejects.toThrow(expect.objectContaining({ code: "invalid_input", message }));
  });
});
