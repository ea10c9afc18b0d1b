import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Options } from "@anthropic-ai/claude-agent-sdk";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type AgentInput, MODES, parseAgent } from "../../src/core/agent/agent-definition.ts";
import type { EngineRequest } from "../../src/core/ports/engine.ts";
import { parseEnvironment } from "../../src/core/environment/environment.ts";
import { sandboxPlan } from "../../src/core/environment/sandbox.ts";
import type { TranscriptEntry, TranscriptStore } from "../../src/core/ports/store.ts";
import { sdkOptions } from "../../src/engines/claude/options.ts";
import { requireDirectory } from "../../src/engines/require-directory.ts";
import { defineTool } from "../../src/tools/define-tool.ts";
import { agent, temporaryDirectory } from "../support/host.ts";

const lookup = defineTool({ name: "lookup", description: "Looks up.", input: z.object({}), handler: () => "found" });

interface Given extends Partial<Omit<EngineRequest, "agent">> {
  readonly agent?: Partial<AgentInput>;
  readonly resume?: boolean;
  readonly retries?: number;
}

/** The options of a session in a state directory of its own, which is gone afterwards. */
function optionsFor({ resume = false, retries = 3, ...given }: Given = {}): Options & { readonly state: string } {
  using directory = temporaryDirectory();
  const state = given.stateDir ?? directory.path;
  const request: EngineRequest = {
    sessionId: "sesn_0190aaaabbbb7cccdddd0000000000aa",
    model: "claude-opus-4-8",
    mode: "normal",
    cwd: "/workspace",
    stateDir: state,
    variables: {},
    gateway: { url: "http://127.0.0.1:1", token: "token" },
    tools: [],
    transcripts: transcripts(),
    history: [],
    subagents: [],
    lineHistory: async () => [],
    start: { kind: "wait" },
    ...given,
    agent: parseAgent(agent(given.agent)),
  };
  return {
    ...sdkOptions(
      request,
      { path: "/bin", retries },
      { resume, tempDir: "/tmp/short", shellDirectory: "/state/shell", confined: given.sandbox !== undefined },
    ),
    state,
  };
}

function transcripts(stored: Record<string, TranscriptEntry[]> = {}): TranscriptStore {
  return {
    append: async (sessionId, path, entries) => void (stored[`${sessionId} ${path}`] ??= []).push(...entries),
    load: async (sessionId, path) => stored[`${sessionId} ${path}`] ?? [],
    replace: async () => {},
    paths: async () => ["subagents/agent-a1"],
  };
}

/** The names of the child's variables behind a gateway of that sort. */
function variablesBehind(gateway: Partial<EngineRequest["gateway"]>): string[] {
  const { env = {} } = optionsFor({ gateway: { url: "http://127.0.0.1:1", token: "token", ...gateway } });
  return Object.keys(env);
}

describe("the child's environment", () => {
  const always = [
    "PATH",
    "LANG",
    "HOME",
    "TMPDIR",
    "CAPSTAN_SESSION",
    "CLAUDE_CONFIG_DIR",
    "CLAUDE_CODE_TMPDIR",
    "_CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    "CLAUDE_BASH_MAINTAIN_PROJECT_WORKING_DIR",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS",
    "CLAUDE_CODE_MAX_RETRIES",
    "CLAUDE_CODE_ATTRIBUTION_HEADER",
    "ENABLE_TOOL_SEARCH",
    "DISABLE_AUTOUPDATER",
  ];

  test("has the variables that are named here and no other, whatever the session's are", () => {
    const plain = optionsFor();
    expect(Object.keys(plain.env ?? {}).toSorted()).toEqual(always.toSorted());
    const variables = {
      COLOUR: "blue",
      PATH: "/x",
      LANG: "x",
      LD_PRELOAD: "/x",
      OTEL_LOGS_EXPORTER: "otlp",
      HOME: "/x",
    };
    expect(optionsFor({ variables, stateDir: plain.state }).env).toEqual(plain.env);
  });

  test("has the two variables of a continued turn only when there is one", () => {
    const continued = ["CLAUDE_CODE_RESUME_INTERRUPTED_TURN", "CLAUDE_CODE_RESUME_SHOWS_CUT_OFF_CALLS"];
    const { env } = optionsFor({ start: { kind: "continue" } });
    expect(Object.keys(env ?? {}).toSorted()).toEqual([...always, ...continued].toSorted());
  });

  test("has retries enough to come to the other model, when there is one", () => {
    expect(optionsFor({ retries: 1 }).env?.["CLAUDE_CODE_MAX_RETRIES"]).toBe("1");
    const fallback = { fallback_model: "haiku" };
    expect(optionsFor({ agent: fallback, retries: 1 }).env?.["CLAUDE_CODE_MAX_RETRIES"]).toBe("2");
    expect(optionsFor({ agent: fallback, retries: 6 }).env?.["CLAUDE_CODE_MAX_RETRIES"]).toBe("6");
  });

  test("says who pays where that is a subscription, and tries nothing new where nothing new is known", () => {
    expect(variablesBehind({ billing: "paid" }).toSorted()).toEqual(always.toSorted());
    expect(variablesBehind({ billing: "included" })).not.toContain("CLAUDE_CODE_ATTRIBUTION_HEADER");
    expect(variablesBehind({ isPlain: true })).toContain("CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS");
  });

  test("has a home and a configuration that only this user can read", () => {
    using directory = temporaryDirectory();
    optionsFor({ stateDir: directory.path });
    for (const name of ["home", "config"]) expect(statSync(join(directory.path, name)).mode & 0o777).toBe(0o700);
  });
});

describe("the tools", () => {
  test("are those of the agent and of its subagents, once each, without the host's own", () => {
    const worker = { description: "works", instructions: "Work.", tools: ["Bash", "lookup"] };
    const { tools } = optionsFor({ tools: [lookup], agent: { tools: ["Read", "lookup"], subagents: { worker } } });
    expect(tools).toEqual(["Read", "Bash", "Agent", "SendMessage"]);
  });

  test("are none when the agent has none, not all the CLI has", () => {
    expect(optionsFor().tools).toEqual([]);
  });

  test.each<[string, Partial<AgentInput>]>([
    ["of the agent", { tools: ["Read", "Telepathy"] }],
    ["of a subagent", { subagents: { worker: { description: "w", instructions: "w", tools: ["Telepathy"] } } }],
    ["of structured output, which the schema brings", { tools: ["StructuredOutput"] }],
  ])("that nobody has are refused by name: one %s", (_whose, given) => {
    expect(() => optionsFor({ agent: given })).toThrow(
      expect.objectContaining({
        code: "invalid_agent",
        message: expect.stringMatching(/Telepathy|StructuredOutput/) as string,
      }),
    );
  });

  test("of the host are known to a subagent by the engine's name", () => {
    const worker = { description: "works", instructions: "Work.", tools: ["Bash", "lookup"], model: "haiku" };
    const { agents, extraArgs } = optionsFor({ tools: [lookup], agent: { subagents: { worker } } });
    const expected = {
      worker: { description: "works", prompt: "Work.", tools: ["Bash", "mcp__capstan__lookup"], model: "haiku" },
    };
    expect(agents).toEqual(expected);
    expect(JSON.parse(extraArgs?.["agents"] ?? "")).toEqual(expected);
  });

  test("of a subagent that names none are left to the CLI", () => {
    const helper = { description: "helps", instructions: "Help." };
    expect(optionsFor({ agent: { subagents: { helper } } }).agents).toEqual({
      helper: { description: "helps", prompt: "Help." },
    });
  });
});

describe("the options", () => {
  test("never let the CLI decide on a permission, nor read the user's settings or servers", () => {
    for (const mode of MODES) {
      const options = optionsFor({ mode });
      expect(options.permissionMode).toBe(mode === "plan" ? "plan" : "default");
      expect(options).not.toHaveProperty("allowedTools");
      expect(options).toMatchObject({ settingSources: [], strictMcpConfig: true });
      expect(options.settings).toMatchObject({ disableSkillShellExecution: true, disableAllHooks: true });
    }
  });

  test("carry the instructions alone, or behind Claude Code's own and without what differs from session to session", () => {
    expect(optionsFor().systemPrompt).toBe("You are a test agent.");
    expect(optionsFor({ agent: { instructions_mode: "append" } }).systemPrompt).toEqual({
      type: "preset",
      preset: "claude_code",
      append: "You are a test agent.",
      excludeDynamicSections: true,
    });
  });

  test("give a subagent that is driven alone its own instructions, whatever its agent's stand behind", () => {
    const worker = { description: "works", instructions: "Work." };
    const agentOfWorker: Partial<AgentInput> = { instructions_mode: "append", subagents: { worker } };
    const options = optionsFor({ agent: agentOfWorker, line: { threadId: "sthr_1", name: "worker" } });
    expect(options.systemPrompt).toBe("Work.");
  });

  test("carry effort, thinking and the other model, and none of them when the agent does not say", () => {
    expect(Object.keys(optionsFor())).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/effort|thinking|fallbackModel/)]),
    );
    const given = { effort: "low", thinking: { budget_tokens: 2000 }, fallback_model: "haiku" } as const;
    expect(optionsFor({ agent: given })).toMatchObject({
      effort: "low",
      thinking: { type: "enabled", budgetTokens: 2000 },
      fallbackModel: "haiku",
    });
    expect(optionsFor({ agent: { thinking: "disabled" } })).toMatchObject({ thinking: { type: "disabled" } });
  });

  test("leave the other model out when a session was switched to it", () => {
    const options = optionsFor({ agent: { fallback_model: "claude-haiku-5-5" }, model: "claude-haiku-5-5" });
    expect(options).not.toHaveProperty("fallbackModel");
  });

  test("let commands in a sandbox read the agent's skills", () => {
    const files = { "SKILL.md": { content: "---\ndescription: d\n---\n", encoding: "utf8" as const } };
    const sandbox = sandboxPlan(parseEnvironment({ sandbox: { mode: "required" } }).sandbox, {
      cwd: "/workspace",
      source: "/workspace",
      home: "/home/me",
      capstanHome: "/capstan",
      stateDir: "/capstan/s",
      temporary: "/tmp",
      secretFiles: [],
      readOnlyMounts: [],
      variables: {},
      real: (path: string) => path,
    });
    const { settings, plugins, tools, state } = optionsFor({ sandbox, agent: { skills: { tidy: { files } } } });
    const plugin = join(state, "plugin");
    expect(plugins).toMatchObject([{ path: plugin }]);
    expect(tools).toEqual(["Skill"]);
    expect(settings).toMatchObject({
      sandbox: { filesystem: { allowRead: expect.arrayContaining([plugin]) as string[] } },
    });
  });

  test("make a resumed process wait for the hooks before it does anything", () => {
    expect(optionsFor({ resume: true }).extraArgs).toEqual({ "await-initialize": null });
  });

  test("name the session to a new process and to one that resumes it", () => {
    const uuid = "0190aaaa-bbbb-7ccc-dddd-0000000000aa";
    expect(optionsFor()).toMatchObject({ sessionId: uuid });
    expect(optionsFor()).not.toHaveProperty("resume");
    expect(optionsFor({ resume: true })).toMatchObject({ resume: uuid });
    expect(optionsFor({ resume: true })).not.toHaveProperty("sessionId");
  });

  test("carry the limits that the CLI keeps, and only those that are set", () => {
    expect(optionsFor({ agent: { budget: { steps: 3, usd: 0.5, tokens: 9 } } })).toMatchObject({
      maxTurns: 3,
      maxBudgetUsd: 0.5,
    });
    expect(optionsFor()).not.toHaveProperty("maxTurns");
    expect(optionsFor()).not.toHaveProperty("maxBudgetUsd");
  });

  test("carry the output schema without the name of its dialect, which the CLI does not know", () => {
    const schema = { $schema: "https://json-schema.org/draft/2020-12/schema", type: "object", required: ["a"] };
    expect(optionsFor({ agent: { output_schema: schema } }).outputFormat).toEqual({
      type: "json_schema",
      schema: { type: "object", required: ["a"] },
    });
    expect(optionsFor()).not.toHaveProperty("outputFormat");
  });

  test("keep the transcript under the session alone, whatever directory the CLI works in", async () => {
    const stored: Record<string, TranscriptEntry[]> = {};
    const { sessionStore } = optionsFor({ transcripts: transcripts(stored) });
    const key = { projectKey: "-elsewhere", sessionId: "0190aaaa-bbbb-7ccc-dddd-0000000000aa" };
    expect(await sessionStore?.load(key)).toBeNull();
    await sessionStore?.append(key, [{ type: "user" }]);
    await sessionStore?.append({ ...key, projectKey: "-other", subpath: "subagents/agent-a1" }, [
      { type: "assistant" },
    ]);
    expect(stored).toEqual({
      "sesn_0190aaaabbbb7cccdddd0000000000aa ": [{ type: "user" }],
      "sesn_0190aaaabbbb7cccdddd0000000000aa subagents/agent-a1": [{ type: "assistant" }],
    });
    expect(await sessionStore?.load({ ...key, projectKey: "-third" })).toEqual([{ type: "user" }]);
    expect(await sessionStore?.listSubkeys?.(key)).toEqual(["subagents/agent-a1"]);
  });
});

describe("the working directory", () => {
  test("must be there and be a directory; the error says which", () => {
    using directory = temporaryDirectory();
    expect(() => requireDirectory(directory.path)).not.toThrow();
    const missing = join(directory.path, "missing");
    expect(() => requireDirectory(missing)).toThrow(
      expect.objectContaining({
        code: "cwd_missing",
        data: { cwd: missing },
        message: expect.stringContaining("does not exist") as string,
      }),
    );
    const file = join(directory.path, "file");
    writeFileSync(file, "");
    expect(() => requireDirectory(file)).toThrow(/is not a directory/);
  });
});
