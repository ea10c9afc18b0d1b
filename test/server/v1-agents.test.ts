import type Anthropic from "@anthropic-ai/sdk";
import { BadRequestError, ConflictError } from "@anthropic-ai/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseAgent } from "../../src/core/agent/agent-definition.ts";
import { refusal, type V1App, v1App } from "../support/v1-app.ts";

let app: V1App;
let client: Anthropic;
beforeAll(async () => {
  app = await v1App();
  client = await app.client();
});
afterAll(() => app[Symbol.asyncDispose]());

const model = "claude-opus-4-8";
const auto = { type: "auto" };

test("keeps everything in an agent's request", async () => {
  const made = await client.beta.agents.create({
    name: "My Reviewer (2)",
    model: { id: model, speed: "standard" },
    description: "Reviews.",
    system: "Be kind.",
    metadata: { team: "a" },
    tools: [
      { type: "agent_toolset_20260401" },
      { type: "custom", name: "weather", description: "Tells.", input_schema: { type: "object", properties: null } },
    ],
  });
  expect(made).toMatchObject({
    type: "agent",
    id: expect.stringMatching(/^agent_[0-9a-f]{32}$/),
    version: 1,
    name: "My Reviewer (2)",
    description: "Reviews.",
    system: "Be kind.",
    metadata: { team: "a" },
    model: { id: model },
    archived_at: null,
    multiagent: null,
    execution_identity: { type: "service_account" },
    tools: [
      { type: "agent_toolset_20260401", configs: [], default_config: { enabled: true, permission_policy: auto } },
      { type: "custom", name: "weather", description: "Tells.", input_schema: { type: "object" } },
    ],
  });
  expect(await client.beta.agents.retrieve(made.id)).toEqual(made);
  const { definition } = (await app.deps.registry.agents.get("default", made.id)) ?? {};
  expect(definition).toMatchObject({ name: "my-reviewer-2", instructions: "Be kind.", permissions: { allow: [] } });
});

test("shows MCP servers with a URL, and accepts them back unchanged", async () => {
  const id = app.deps.ids.next("agent");
  const server = {
    type: "http" as const,
    url: "https://mcp.example.com/v1",
    headers: { authorization: "Bearer secret" },
    tools: { "*": "ask" as const, find: "allow" as const, drop: "deny" as const },
  };
  await app.deps.registry.agents.create({
    id,
    project: "default",
    version: 1,
    name: "Connected",
    description: null,
    metadata: {},
    definition: parseAgent({
      name: "connected",
      model,
      mcp_servers: { docs: server, local: { command: "server", args: [], env: {} } },
    }),
    createdAt: 1,
    updatedAt: 1,
    archivedAt: null,
  });
  const shown = await client.beta.agents.retrieve(id);
  expect(shown.mcp_servers).toEqual([{ type: "url", name: "docs", url: "https://mcp.example.com/v1" }]);
  expect(shown.tools).toEqual([
    {
      type: "mcp_toolset",
      mcp_server_name: "docs",
      default_config: { enabled: true, permission_policy: { type: "always_ask" } },
      configs: [
        { name: "find", enabled: true, permission_policy: { type: "always_allow" } },
        { name: "drop", enabled: false, permission_policy: { type: "auto" } },
      ],
    },
  ]);
  expect(JSON.stringify(shown)).not.toContain("secret");
  const { tools, mcp_servers, version } = shown;
  const same = await client.beta.agents.update(id, { version, tools, mcp_servers, system: "More." });
  expect(same).toMatchObject({ mcp_servers, tools, system: "More." });
  const moved = [{ type: "url" as const, name: "docs", url: "https://elsewhere.example.com" }];
  const refused = await refusal(client.beta.agents.update(id, { version: same.version, mcp_servers: moved }));
  expect(refused.apiMessage).toContain("mcp_servers with a URL");
});

test("policies become rules and are shown unchanged", async () => {
  const { id, tools } = await client.beta.agents.create({
    name: "Careful",
    model,
    tools: [
      {
        type: "agent_toolset_20260401",
        default_config: { permission_policy: { type: "always_ask" } },
        configs: [
          { name: "bash", permission_policy: { type: "always_allow" } },
          { name: "web_search", enabled: false },
          { name: "web_fetch", blocked_domains: ["Ads.example.com"], permission_policy: { type: "auto" } },
        ],
      },
    ],
  });
  const { definition } = (await app.deps.registry.agents.get("default", id)) ?? {};
  expect(definition?.tools).toEqual(["Bash", "Edit", "Read", "Write", "Glob", "Grep", "WebFetch"]);
  expect(definition?.permissions).toMatchObject({
    allow: ["Bash"],
    ask: ["Edit", "Read", "Write", "Glob", "Grep"],
    deny: ["WebFetch(domain:ads.example.com)", "WebFetch(domain:*.ads.example.com)"],
  });
  expect(tools).toEqual([
    {
      type: "agent_toolset_20260401",
      default_config: { enabled: true, permission_policy: { type: "always_ask" } },
      configs: [
        { name: "bash", type: "bash", enabled: true, permission_policy: { type: "always_allow" } },
        {
          name: "web_fetch",
          type: "web_fetch",
          enabled: true,
          permission_policy: auto,
          url_sources: null,
          blocked_domains: ["ads.example.com"],
        },
        { name: "web_search", type: "web_search", enabled: false, permission_policy: auto },
      ],
    },
  ]);
});

const withEdit = (configs: Anthropic.Beta.BetaManagedAgentsAgentToolConfigParams[]) =>
  client.beta.agents.create({ name: "A", model, tools: [{ type: "agent_toolset_20260401", configs }] });

test("rejects a policy that Capstan's rules would extend to another tool", async () => {
  const allow = { type: "always_allow" } as const;
  expect((await refusal(withEdit([{ name: "edit", permission_policy: allow }]))).apiMessage).toContain(
    "Give write the same permission_policy",
  );
  const both = await withEdit([
    { name: "edit", permission_policy: allow },
    { name: "write", permission_policy: allow },
  ]);
  expect(both.tools).toMatchObject([{ configs: [{ name: "edit" }, { name: "write" }] }]);
  // What was not named may become stricter, and is shown so.
  const asked = await withEdit([{ name: "read", permission_policy: { type: "always_ask" } }]);
  expect(asked.tools).toMatchObject([{ configs: [{ name: "read" }, { name: "glob" }, { name: "grep" }] }]);
});

test("an update creates a new version, unless nothing changes", async () => {
  const first = await client.beta.agents.create({ name: "One", model, metadata: { a: "1", b: "2" } });
  const same = await client.beta.agents.update(first.id, { name: "One", version: 1 });
  expect(same).toEqual(first);
  const second = await client.beta.agents.update(first.id, {
    name: "Two",
    system: "New.",
    metadata: { a: null, c: "3" },
    tools: [{ type: "agent_toolset_20260401" }],
  });
  expect(second).toMatchObject({ version: 2, name: "Two", system: "New.", metadata: { b: "2", c: "3" } });
  const third = await client.beta.agents.update(first.id, { system: null, tools: null, description: "" });
  expect(third).toMatchObject({ version: 3, system: null, tools: [], description: null });
  expect(await client.beta.agents.retrieve(first.id, { version: 1 })).toMatchObject({ version: 1, name: "One" });
  const versions = [];
  for await (const { version } of client.beta.agents.versions.list(first.id, { limit: 2 })) versions.push(version);
  expect(versions).toEqual([3, 2, 1]);
  const conflict = await refusal(client.beta.agents.update(first.id, { name: "Late", version: 2 }));
  expect(conflict).toBeInstanceOf(ConflictError);
  expect(conflict.apiMessage).toContain("is at version 3, not 2");
});

test("rules that the API cannot express survive an update, and are not shown", async () => {
  const { id } = await client.beta.agents.create({ name: "Ruled", model, tools: [{ type: "agent_toolset_20260401" }] });
  const stored = await app.deps.registry.agents.get("default", id);
  if (stored === undefined) throw new Error("There is no agent.");
  const permissions = { ...stored.definition.permissions, allow: ["Bash(npm test)"], deny: ["Read(./secrets/**)"] };
  await app.deps.registry.agents.update({
    ...stored,
    version: 2,
    definition: { ...stored.definition, permissions, tools: [...stored.definition.tools, "NotebookEdit"] },
  });
  const shown = await client.beta.agents.retrieve(id);
  expect(shown.tools).toMatchObject([{ default_config: { permission_policy: auto }, configs: [] }]);
  await client.beta.agents.update(id, {
    tools: [
      {
        type: "agent_toolset_20260401",
        default_config: { enabled: false },
        configs: [{ name: "bash", enabled: true, permission_policy: { type: "always_ask" } }],
      },
    ],
  });
  const { definition } = (await app.deps.registry.agents.get("default", id)) ?? {};
  expect(definition).toMatchObject({
    tools: ["Bash", "NotebookEdit"],
    permissions: { allow: ["Bash(npm test)"], ask: ["Bash"], deny: ["Read(./secrets/**)"] },
  });
});

test("agents that another may call are copied, and shown by id", async () => {
  const helper = await client.beta.agents.create({ name: "The Helper", model, description: "Helps.", system: "Help." });
  const lead = await client.beta.agents.create({
    name: "Lead",
    model,
    multiagent: { type: "coordinator", agents: [helper.id] },
  });
  const reference = { type: "agent", id: helper.id, version: 1 };
  expect(lead.multiagent).toEqual({ type: "coordinator", agents: [reference] });
  expect(lead.metadata).toEqual({});
  const { definition } = (await app.deps.registry.agents.get("default", lead.id)) ?? {};
  expect(definition?.subagents).toEqual({
    "the-helper": { description: "Helps.", instructions: "Help.", tools: [], model },
  });
  const off = { type: "disabled" } as const;
  const newer = await client.beta.agents.update(lead.id, {
    multiagent: {
      type: "multiagent_20261001",
      workflows: off,
      subagents: { type: "enabled", inline_agents: off, predefined_agents: [{ type: "agent", id: helper.id }] },
    },
  });
  expect(newer.multiagent).toMatchObject({
    subagents: { predefined_agents: [reference] },
    workflows: off,
    advisor: off,
  });
  // What is left out of the newer type stays as it is.
  const merged = await client.beta.agents.update(lead.id, { name: "L", multiagent: { type: "multiagent_20261001" } });
  expect(merged.multiagent).toEqual(newer.multiagent);
  const cleared = await client.beta.agents.update(lead.id, { multiagent: null });
  expect(cleared.multiagent).toBeNull();
  for (const [multiagent, said] of [
    [{ type: "coordinator", agents: [{ type: "self" }] }, "does not support self"],
    [{ type: "coordinator", agents: [helper.id, helper.id] }, "named twice"],
    [{ type: "coordinator", agents: ["agent_gone"] }, "was not found. List the agents"],
    [{ type: "multiagent_20261001" }, "does not support workflows"],
    [{ type: "multiagent_20261001", workflows: off }, "does not support inline agents"],
    [{ type: "multiagent_20261001", workflows: off, advisor: { type: "enabled", model } }, "does not support advisor"],
  ] as const)
    expect((await refusal(client.beta.agents.update(lead.id, { multiagent: multiagent as never }))).message).toContain(
      said,
    );
});

test("an archived agent cannot be changed or called", async () => {
  const { id } = await client.beta.agents.create({ name: "Old", model });
  const archived = await client.beta.agents.archive(id);
  expect(archived.archived_at).not.toBeNull();
  expect(await client.beta.agents.archive(id)).toEqual(archived);
  expect((await refusal(client.beta.agents.update(id, { name: "New" }))).status).toBe(400);
  const calling = client.beta.agents.create({ name: "L", model, multiagent: { type: "coordinator", agents: [id] } });
  expect((await refusal(calling)).apiMessage).toContain("it is archived");
});

test("lists have pages, and leave out archived agents by default", async () => {
  const lister = await app.client("admin", "lists");
  const ids: string[] = [];
  for (const name of ["a", "b", "c", "d"]) ids.unshift((await lister.beta.agents.create({ name, model })).id);
  await lister.beta.agents.archive(ids[1] ?? "");
  const listed = async (params: Anthropic.Beta.AgentListParams): Promise<string[]> => {
    const found: string[] = [];
    for await (const { id } of lister.beta.agents.list(params)) found.push(id);
    return found;
  };
  expect(await listed({ limit: 2, include_archived: true })).toEqual(ids);
  expect(await listed({ limit: 1 })).toEqual([ids[0], ids[2], ids[3]]);
  expect(await listed({ "created_at[gte]": new Date(Date.now() + 60_000).toISOString() })).toEqual([]);
  expect(await listed({ "created_at[lte]": new Date(Date.now() + 60_000).toISOString() })).toHaveLength(3);
});

test("a missing or unusable model is rejected with a remedy", async () => {
  for (const given of [{}, { model: 5 }, { model: {} }]) {
    const { status, message } = await app.send("/v1/agents", { body: { name: "A", ...given } });
    expect(status).toBe(400);
    expect(message).toContain("model: expected the id of a model");
  }
  const { message } = await app.send("/v1/sessions", { body: { environment_id: "env_1" } });
  expect(message).toContain("agent: expected the id of an agent");
});

test("keeps and shows a model's effort, and resets it when the model is named without one", async () => {
  const made = await client.beta.agents.create({ name: "A", model: { id: model, effort: "high" } });
  expect(made.model).toEqual({ id: model, speed: "standard", effort: { type: "high" } });
  const other = await client.beta.agents.update(made.id, { model: { id: model, effort: { type: "low" } } });
  expect(other.model.effort).toEqual({ type: "low" });
  expect((await client.beta.agents.update(made.id, { model })).model).toEqual({ id: model, speed: "standard" });
});

test.for([
  [{ speed: "fast" }, 'model.speed "fast"'],
  [{ inference_geo: "eu" }, "model.inference_geo"],
] as const)("rejects a model with %o by name", async ([more, what]) => {
  const error = await refusal(client.beta.agents.create({ name: "A", model: { id: model, ...more } }));
  expect(error.apiMessage).toContain(`Capstan does not support ${what}`);
  expect(error.errorCode).toBe("unsupported");
});

test.for([
  ["skills", { skills: [{ type: "anthropic", skill_id: "xlsx" }] }],
  ["mcp_servers", { mcp_servers: [{ type: "url", name: "x", url: "https://x.example" }] }],
  ["mcp_toolset", { tools: [{ type: "mcp_toolset", mcp_server_name: "x" }] }],
  ["execution_identity", { execution_identity: { type: "aws_role", role_arn: "arn" } }],
] as const)("rejects %s by name", async ([what, more]) => {
  const params = { name: "A", model, ...more } as unknown as Anthropic.Beta.AgentCreateParams;
  const error = await refusal(client.beta.agents.create(params));
  expect(error).toBeInstanceOf(BadRequestError);
  expect(error.apiMessage).toContain(what);
});

test.for([
  [{ model }, "name"],
  [{ name: "", model }, "name"],
  [{ name: "A", model, colour: "red" }, "colour"],
  [{ name: "A", model, metadata: { "capstan.x": "1" } }, "reserved"],
  [{ name: "A", model, metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [`k${i}`, "v"])) }, "17 keys"],
  [{ name: "A", model, tools: [{ type: "agent_toolset_20260401", configs: [{ name: "fly" }] }] }, "tools.0.configs.0"],
  [
    { name: "A", model, tools: [{ type: "custom", name: "bash", description: "x", input_schema: { type: "object" } }] },
    "bash",
  ],
  ["{", "not valid JSON"],
  [[], "expected object"],
] as const)("rejects %j with a message about %s", async ([body, said]) => {
  const { status, message } = await app.send("/v1/agents", { body });
  expect(status).toBe(400);
  expect(message).toContain(said);
});

test.for([
  ["limit=0", "limit"],
  ["limit=101", "limit"],
  ["limit=x", "limit"],
  ["page=garbage", "not a cursor"],
  ["created_at[gte]=yesterday", "created_at[gte]"],
  ["include_archived=maybe", "include_archived"],
  ["sort=up", "sort"],
])("rejects a list with %s", async ([query, said]) => {
  const { status, message } = await app.send(`/v1/agents?${query}`, { method: "GET" });
  expect(status).toBe(400);
  expect(message).toContain(said);
});

test("ignores the beta flag of older clients", async () => {
  expect((await app.send("/v1/agents?beta=true", { method: "GET" })).status).toBe(200);
});
