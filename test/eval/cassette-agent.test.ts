import { join } from "node:path";
import { expect, test } from "vitest";
import { agentForSuite, differsIn } from "../../src/app/record/session-agent.ts";
import { parseAgent } from "../../src/core/agent/agent-definition.ts";
import { parseEnvironment } from "../../src/core/environment/environment.ts";
import { PLAIN_SESSION, type SessionRecord } from "../../src/core/ports/store.ts";
import { temporaryDirectory } from "../support/host.ts";
import { writeTree } from "../support/suites.ts";
import { loadTrusted } from "../support/trust.ts";

const RECORD: SessionRecord = {
  ...PLAIN_SESSION,
  id: "sesn_1",
  createdAt: 0,
  project: "default",
  agent: parseAgent({
    name: "worker",
    description: "Works.",
    instructions: "You work for us.\nTake ${CARE}.\n",
    instructions_mode: "append",
    model: "claude-opus-4-8",
    effort: "low",
    tools: ["Read", "Bash"],
    permissions: { mode: "accept-edits", allow: ["Bash(git status)"], ask: [{ rule: "Bash", remember: false }] },
    budget: { usd: 2 },
    subagents: { left: { description: "Left.", instructions: "Look left.", tools: ["Read"] } },
    mcp_servers: { files: { command: "files-server", args: ["--all"], env: { TOKEN: "${FILES_TOKEN}" } } },
    commands: { review: { prompt: "Review {{args}}." } },
    output_schema: { type: "object" },
    hooks: { before_tool: [{ command: "true" }] },
  }),
  environment: parseEnvironment({ variables: { COLOUR: "blue" }, limits: { processes: 50 } }),
  cwd: "/w",
  source: "/w",
  title: null,
  forkedFrom: null,
};

test("an agent that is written down is the same agent when it is read", async () => {
  using directory = temporaryDirectory();
  const { path } = directory;
  const environment = { HOME: join(path, "home"), PATH: "/usr/bin" };
  const request = { record: RECORD, inputs: {}, directory: path, fixture: undefined, environment };
  const first = await agentForSuite({ ...request, agentFile: undefined });
  expect(first).toMatchObject({ path: "agent.yaml", inputs: {} });
  writeTree(path, { "agent.yaml": first.text ?? "" });
  const agentFile = join(path, "agent.yaml");
  const read = await loadTrusted({ cwd: path, environment, flags: {}, agentFile });
  expect(differsIn(read, request)).toEqual([]);
  expect(await agentForSuite({ ...request, agentFile: undefined })).toEqual({
    path: "agent.yaml",
    inputs: {},
    text: undefined,
  });
});

test("where another agent is in the way a second file is made, or it is told in what they differ", async () => {
  using directory = temporaryDirectory();
  const { path } = directory;
  writeTree(path, { "agent.yaml": "name: worker\nmodel: claude-opus-4-8\ninstructions: You rest.\n" });
  const environment = { HOME: join(path, "home"), PATH: "/usr/bin" };
  const plain = {
    ...RECORD,
    agent: parseAgent({ name: "worker", model: "claude-opus-4-8", instructions: "You work." }),
  };
  const request = {
    record: { ...plain, environment: parseEnvironment({}) },
    inputs: {},
    directory: path,
    fixture: undefined,
    environment,
  };
  expect(await agentForSuite({ ...request, agentFile: undefined })).toMatchObject({ path: "worker.agent.yaml" });
  await expect(agentForSuite({ ...request, agentFile: join(path, "agent.yaml") })).rejects.toThrow(
    "is not the session's agent: it differs in instructions.",
  );
  writeTree(path, { "worker.agent.yaml": "name: other\n" });
  await expect(agentForSuite({ ...request, agentFile: undefined })).rejects.toThrow("cannot be created there");
  const skilled = {
    ...plain.agent,
    skills: { a: { files: { "SKILL.md": { content: "", encoding: "utf8" as const } } } },
  };
  const elsewhere = { ...request, directory: join(path, "elsewhere"), record: { ...plain, agent: skilled } };
  await expect(agentForSuite({ ...elsewhere, agentFile: undefined })).rejects.toThrow("has skills");
});
