import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Options, query, type SDKMessage, type SDKUserMessage } from "@anthropic-ai/claude-agent-sdk";
import { expect, test } from "vitest";
import type { GatewayAccess } from "../../src/core/ports/gateway.ts";
import { openRehearsal } from "../../src/gateway/rehearsal/rehearsal.ts";
import { apiError, call, say, scriptedModel } from "../support/scripted-model.ts";
import { API_KEY, gatewayTo, ledger } from "./support.ts";

/** The real SDK and CLI in a place of their own, with nothing but the gateway to talk to. */
interface Place extends AsyncDisposable {
  readonly workspace: string;
  run(access: GatewayAccess, prompt: string, options?: Options): Promise<readonly SDKMessage[]>;
}

async function place(): Promise<Place> {
  const root = await mkdtemp(join(tmpdir(), "capstan-gateway-"));
  const workspace = join(root, "workspace");
  for (const name of ["home", "config", "tmp", "workspace"]) await mkdir(join(root, name));
  return {
    workspace,
    async run(access, prompt, options = {}) {
      const finished = Promise.withResolvers<void>();
      const messages: SDKMessage[] = [];
      const agent = query({
        prompt: (async function* (): AsyncGenerator<SDKUserMessage> {
          yield { type: "user", message: { role: "user", content: prompt }, parent_tool_use_id: null };
          await finished.promise;
        })(),
        options: {
          cwd: workspace,
          settingSources: [],
          model: "claude-opus-4-8",
          tools: ["Agent", "Bash", "Edit", "Glob", "Read", "Write"],
          hooks: { PreToolUse: [{ hooks: [async () => ALLOW] }] },
          ...options,
          env: {
            PATH: process.env["PATH"],
            HOME: join(root, "home"),
            CLAUDE_CONFIG_DIR: join(root, "config"),
            CLAUDE_CODE_TMPDIR: join(root, "tmp"),
            ANTHROPIC_BASE_URL: access.url,
            ANTHROPIC_AUTH_TOKEN: access.token,
            _CLAUDE_CODE_ASSUME_FIRST_PARTY_BASE_URL: "1",
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
            CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: "1",
          },
        },
      });
      try {
        for await (const message of agent) {
          messages.push(message);
          if (message.type === "result") finished.resolve();
        }
      } catch (error) {
        // The SDK tells a failed turn as a result, and throws it as well when the process ends.
        if (resultOf(messages) === undefined) throw error;
      }
      return messages;
    },
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, maxRetries: 5 }),
  };
}

const ALLOW = {
  hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision: "allow", permissionDecisionReason: "test" },
} as const;

const resultOf = (messages: readonly SDKMessage[]) => messages.find((message) => message.type === "result");

test("the requests of a main line and of its subagents carry the ids that the SDK reports", async () => {
  await using model = await scriptedModel(({ agent, toolResults }) => {
    if (agent !== "main") return toolResults.length === 0 ? call("Bash", { command: "echo sub" }) : say("looked");
    if (toolResults.length === 0) return call("Agent", { description: "look", prompt: "look at it" });
    return say("done");
  });
  await using fixture = await gatewayTo(model.url);
  await using agents = await place();
  const messages = await agents.run(fixture.access, "please look");
  const { reserved, settled } = fixture.session;
  const tasks = messages.flatMap((m) => (m.type === "system" && m.subtype === "task_started" ? [m.task_id] : []));
  expect(tasks).toHaveLength(1);
  expect(reserved.map(({ engineAgentId, requestClass }) => [engineAgentId, requestClass])).toEqual([
    [undefined, "main"],
    [tasks[0], "subagent"],
    [tasks[0], "subagent"],
    [undefined, "main"],
  ]);
  expect(settled.map(({ outcome }) => [outcome.status, outcome.isError, outcome.stopReason])).toEqual([
    [200, false, "tool_use"],
    [200, false, "tool_use"],
    [200, false, "end_turn"],
    [200, false, "end_turn"],
  ]);
  expect(resultOf(messages)).toMatchObject({ subtype: "success", is_error: false, result: "done" });
  expect(model.requests.map(({ headers }) => headers["x-api-key"])).toEqual(Array(4).fill(API_KEY));
  expect(JSON.stringify(model.requests.map(({ headers }) => headers))).not.toContain(fixture.access.token);
});

test("what the gateway meters is what the SDK accounts for", async () => {
  await using model = await scriptedModel(({ toolResults }) =>
    toolResults.length === 0
      ? call("Bash", { command: "echo hi" })
      : say("done", { usage: { cache_read_input_tokens: 40 } }),
  );
  await using fixture = await gatewayTo(model.url);
  await using agents = await place();
  const result = resultOf(await agents.run(fixture.access, "go"));
  const metered = fixture.session.settled.map(({ outcome }) => outcome.usage);
  const sum = (key: "input_tokens" | "output_tokens" | "cache_read_input_tokens") =>
    metered.reduce((total, usage) => total + usage[key], 0);
  expect(result?.modelUsage).toMatchObject({
    "claude-opus-4-8": {
      inputTokens: sum("input_tokens"),
      outputTokens: sum("output_tokens"),
      cacheReadInputTokens: sum("cache_read_input_tokens"),
    },
  });
});

test("a refused reservation ends the turn at once", async () => {
  await using model = await scriptedModel(() => say("never"));
  const session = ledger({ reserve: async () => ({ granted: false, message: "The budget of 1 USD is spent." }) });
  await using fixture = await gatewayTo(model.url, { session });
  await using agents = await place();
  const result = resultOf(await agents.run(fixture.access, "go"));
  expect(result).toMatchObject({ is_error: true });
  expect(JSON.stringify(result)).toContain("The budget of 1 USD is spent.");
  expect(session.reserved).toHaveLength(1);
  expect(model.requests).toEqual([]);
});

test("a refused credential ends the turn at once", async () => {
  await using model = await scriptedModel(() => apiError(401, "authentication_error", "invalid x-api-key"));
  await using fixture = await gatewayTo(model.url);
  await using agents = await place();
  expect(resultOf(await agents.run(fixture.access, "go"))).toMatchObject({ is_error: true });
  expect(model.requests).toHaveLength(1);
  expect(fixture.session.rejected).toMatchObject([{ status: 401, message: "invalid x-api-key." }]);
});

/** The same with the built-in model instead of a script of the test. */
async function rehearsal() {
  const fixture = await gatewayTo("http://127.0.0.1", { upstream: openRehearsal() });
  const agents = await place();
  return {
    ...agents,
    session: fixture.session,
    run: (prompt: string, options: Options = {}) => agents.run(fixture.access, prompt, options),
    async [Symbol.asyncDispose]() {
      await agents[Symbol.asyncDispose]();
      await fixture[Symbol.asyncDispose]();
    },
  };
}

test("in rehearsal a file is really written and a command really run", async () => {
  await using scene = await rehearsal();
  const messages = await scene.run("write hello.txt with hi, then run cat hello.txt");
  expect(await readFile(join(scene.workspace, "hello.txt"), "utf8")).toBe("hi");
  expect(resultOf(messages)).toMatchObject({
    subtype: "success",
    is_error: false,
    result: "Wrote hello.txt.\n\nRan `cat hello.txt`. It printed:\nhi",
  });
  expect(scene.session.settled).toHaveLength(3);
});

test("in rehearsal files are listed, edited and read", async () => {
  await using scene = await rehearsal();
  await writeFile(join(scene.workspace, "pets.txt"), "cat\n");
  const messages = await scene.run("list files, then replace cat with dog in pets.txt, then read pets.txt");
  expect(await readFile(join(scene.workspace, "pets.txt"), "utf8")).toBe("dog\n");
  expect(resultOf(messages)).toMatchObject({ result: expect.stringContaining("pets.txt says:\n1\tdog") as string });
});

test("in rehearsal a review sends two subagents, which read and report", async () => {
  await using scene = await rehearsal();
  await writeFile(join(scene.workspace, "notes.md"), "# Notes\n");
  const messages = await scene.run("review notes.md with two subagents");
  const tasks = messages.flatMap((m) => (m.type === "system" && m.subtype === "task_started" ? [m.task_id] : []));
  const lines = new Set(scene.session.reserved.map(({ engineAgentId }) => engineAgentId));
  expect(tasks).toHaveLength(2);
  expect(lines).toEqual(new Set([undefined, ...tasks]));
  expect(scene.session.settled).toHaveLength(6);
  const [correctness, clarity] = ["Report on correctness: ", "Report on clarity: "];
  expect(resultOf(messages)).toMatchObject({
    result: expect.stringMatching(`^${correctness}.*\n${clarity}`) as string,
  });
});

test("in rehearsal structured output fits its schema", async () => {
  await using scene = await rehearsal();
  const schema = {
    type: "object",
    properties: { verdict: { enum: ["good", "bad"] }, files: { type: "array", items: { type: "string" } } },
    required: ["verdict", "files"],
  };
  const messages = await scene.run("list files", { outputFormat: { type: "json_schema", schema } });
  expect(resultOf(messages)).toMatchObject({
    subtype: "success",
    structured_output: { verdict: "good", files: [expect.any(String)] },
  });
});

test("in rehearsal the user is asked, and the answer comes back", async () => {
  await using scene = await rehearsal();
  const messages = await scene.run("ask me: tea or coffee?", {
    tools: ["AskUserQuestion"],
    hooks: {},
    canUseTool: async (_tool, input) => ({
      behavior: "allow",
      updatedInput: { ...input, answers: { "Tea or coffee?": "coffee" } },
    }),
  });
  expect(resultOf(messages)).toMatchObject({ result: "You answered: coffee" });
});
