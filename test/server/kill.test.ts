import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { dirname } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { expect, test } from "vitest";
import { type Cli, collect, testCli } from "../support/cli.ts";
import { expectNothingLeft } from "../support/crash/campaign.ts";
import { say, scriptedModel, type Script, toolUse } from "../support/scripted-model.ts";
import { until } from "../support/until.ts";
import { message } from "../support/v1-session.ts";

const SESSIONS = 10;
/** What each session is told to do; the other half of those that run a command wait for permission. */
const TASKS = ["speak", "run", "ask"] as const;
const taskOf = (index: number) => TASKS[index % TASKS.length] ?? "speak";

const script: Script = (request) => {
  if (request.toolResults.length > 0 || /restart|interrupted/i.test(request.last)) return say("Done.");
  if (request.last.includes("speak")) return { ...say("one two three four five six seven eight"), pace: 300 };
  const command = request.last.includes("run") ? "sleep 30" : "echo asked";
  return { blocks: [toolUse("Bash", { command })] };
};

interface Server {
  readonly child: ChildProcessWithoutNullStreams;
  readonly url: string;
}

async function serve(cli: Cli): Promise<Server> {
  const child = cli.start(["serve", "--port", "0", "--json"]);
  const stdout = collect(child.stdout);
  const text = await until(
    () => stdout.text,
    (said) => said.includes("\n"),
  );
  return { child, url: (JSON.parse(text) as { url: string }).url };
}

test("a server killed with ten sessions continues all of them, and leaves nothing behind", async () => {
  await using model = await scriptedModel(script);
  using cli = testCli(model.url);
  const { stdout } = await cli.run(["keys", "create", "--role", "admin", "--json"]);
  const { key: apiKey } = JSON.parse(stdout) as { key: string };
  const first = await serve(cli);
  const client = new Anthropic({ baseURL: first.url, apiKey, maxRetries: 0 });
  const agentWith = async (policy: "always_allow" | "always_ask"): Promise<string> => {
    const configs = [
      { name: "bash" as const, permission_policy: { type: policy } },
      { name: "web_search" as const, enabled: false },
    ];
    const tools = [{ type: "agent_toolset_20260401" as const, configs }];
    return (await client.beta.agents.create({ name: policy, model: "claude-opus-4-8", tools })).id;
  };
  const [free, asking] = [await agentWith("always_allow"), await agentWith("always_ask")];
  const { id: environment_id } = await client.beta.environments.create({ name: "empty" });
  const sessions = await Promise.all(
    Array.from({ length: SESSIONS }, async (_, index) => {
      const agent = taskOf(index) === "ask" ? asking : free;
      const initial_events = [message(`Please ${taskOf(index)}.`)];
      const { id } = await client.beta.sessions.create({ agent, environment_id, initial_events });
      return { id, task: taskOf(index) };
    }),
  );
  // Each is in the middle of what it does.
  const MIDDLE = {
    speak: "span.model_request_start",
    run: "capstan.permission_decided",
    ask: "capstan.approval_requested",
  };
  for (const { id, task } of sessions)
    await until(
      () => typesOf(client, id),
      (types) => types.includes(MIDDLE[task]),
    );
  const asked = await pending(first.url, apiKey);
  expect(asked.length).toBe(sessions.filter(({ task }) => task === "ask").length);

  first.child.kill("SIGKILL");
  await once(first.child, "exit");
  await expectNothingLeft(dirname(cli.home));

  const second = await serve(cli);
  const again = new Anthropic({ baseURL: second.url, apiKey, maxRetries: 0 });
  for (const { id } of sessions)
    await until(
      () => again.beta.sessions.retrieve(id),
      ({ status }) => status === "idle",
    );
  expect(await pending(second.url, apiKey)).toEqual(asked);
  for (const id of asked) await answer(second.url, apiKey, id);
  for (const { id } of sessions)
    await until(
      async () => (await again.beta.sessions.events.list(id, { order: "desc", limit: 1 })).data[0],
      (last) => last?.type === "session.status_idle" && last.stop_reason.type === "end_turn",
    );
  expect(await cli.run(["audit", "verify"])).toMatchObject({ code: 0 });

  second.child.kill("SIGTERM");
  await once(second.child, "exit");
  expect(second.child.exitCode).toBe(0);
  await expectNothingLeft(dirname(cli.home));
});

async function pending(url: string, key: string): Promise<readonly string[]> {
  const response = await fetch(`${url}/api/approvals?status=pending`, { headers: { "x-api-key": key } });
  const { data } = (await response.json()) as { data: readonly { id: string }[] };
  return data.map(({ id }) => id).toSorted();
}

async function answer(url: string, key: string, id: string): Promise<void> {
  const response = await fetch(`${url}/api/approvals/${id}/answer`, {
    method: "POST",
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: JSON.stringify({ behavior: "allow" }),
  });
  expect(response.status).toBe(200);
}

async function typesOf(client: Anthropic, id: string): Promise<string[]> {
  const types: string[] = [];
  for await (const { type } of client.beta.sessions.events.list(id)) types.push(type);
  return types;
}
