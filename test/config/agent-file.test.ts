import { symlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type AgentAsWritten, readAgent } from "../../src/config/agent/agent-file.ts";
import { type Files, files } from "./files.ts";

const VARIABLES = { TOWN: "Ulm", DEPTH: "", ANTHROPIC_API_KEY: "sk-ant-test" };

function readWritten(tree: Files, file = "agent.yaml"): AgentAsWritten {
  return readAgent(tree.at(file), VARIABLES).written;
}

describe("an agent file", () => {
  test("says only what it says: the rest is left to settings and defaults", () => {
    using tree = files({ "agent.yaml": "name: clerk\n" });
    expect(readWritten(tree)).toEqual({ name: "clerk" });
  });

  test("holds everything that an agent is", () => {
    const text = `$schema: ./agent.schema.json
name: clerk
description: Keeps papers.
instructions: |
  Be brief.
  Write {{language}}.
inputs: { language: { type: string, default: English, enum: [English, German] } }
model: opus
fallback_model: haiku
effort: high
thinking: { budget_tokens: 2048 }
auth: bedrock
tools: [Read, Bash]
custom_tools: [{ name: lookup, description: Looks up., input_schema: { type: object } }]
permissions: { mode: plan, deny: [WebFetch] }
budget: { usd: 0.5, deadline_ms: 60000 }
subagents:
  reviewer: { description: Reviews., instructions: Review., tools: [Read, lookup] }
hooks: { before_tool: [{ command: ./check, matcher: lookup }] }
output_schema: { type: object, properties: { city: { type: string } } }
setting_sources: [project]
environment: { workspace: { kind: worktree } }
`;
    using tree = files({ "agent.yaml": text });
    expect(readWritten(tree)).toEqual({
      name: "clerk",
      description: "Keeps papers.",
      instructions: "Be brief.\nWrite {{language}}.\n",
      inputs: { language: { type: "string", default: "English", enum: ["English", "German"] } },
      model: "opus",
      fallback_model: "haiku",
      effort: "high",
      thinking: { budget_tokens: 2048 },
      auth: "bedrock",
      tools: ["Read", "Bash"],
      custom_tools: [{ name: "lookup", description: "Looks up.", input_schema: { type: "object" } }],
      permissions: { mode: "plan", deny: ["WebFetch"] },
      budget: { usd: 0.5, deadline_ms: 60_000 },
      subagents: { reviewer: { description: "Reviews.", instructions: "Review.", tools: ["Read", "lookup"] } },
      hooks: { before_tool: [{ command: "./check", matcher: "lookup" }] },
      output_schema: { type: "object", properties: { city: { type: "string" } } },
      setting_sources: ["project"],
      environment: { workspace: { kind: "worktree" } },
    });
  });

  test("names files beside it, whose content becomes part of the agent", () => {
    using tree = files({
      "team/agent.yaml": `name: clerk
instructions: { file: ../texts/clerk.md, mode: append }
output_schema: city.json
subagents: { reviewer: reviewer.yaml }
commands:
  tidy: { description: Tidies up., file: tidy.md }
  go: { prompt: "Go on with {{args}}." }
skills: [skills/pdf]
functions: [tools/add.mjs, { module: "\${TOWN}.mjs", exports: [sub] }]
mcp_servers:
  near: { command: ./server, args: [./left-alone] }
  found: { command: npx }
`,
      "texts/clerk.md": "Be brief.\n",
      "team/city.json": '{\n\t"type": "object"\n}\n',
      "team/reviewer.yaml": `name: reviewer
description: Reviews.
instructions: { file: ../texts/clerk.md }
tools: [Read]
model: haiku
`,
      "team/tidy.md": "Tidy up {{args}}.\n",
      "team/tools/add.mjs": "",
      "team/Ulm.mjs": "",
      "team/skills/pdf/SKILL.md": "---\nname: pdf\ndescription: Reads PDF files.\nlicence: Apache-2.0\n---\nRead it.\n",
      "team/skills/pdf/scripts/read.py": "print()\n",
      "team/skills/pdf/logo.png": Uint8Array.of(0x89, 0xff, 0),
    });
    expect(readWritten(tree, "team/agent.yaml")).toEqual({
      name: "clerk",
      instructions: "Be brief.\n",
      instructions_mode: "append",
      output_schema: { type: "object" },
      subagents: {
        reviewer: { description: "Reviews.", instructions: "Be brief.\n", tools: ["Read"], model: "haiku" },
      },
      commands: {
        tidy: { description: "Tidies up.", prompt: "Tidy up {{args}}.\n" },
        go: { prompt: "Go on with {{args}}." },
      },
      skills: {
        pdf: {
          files: {
            "SKILL.md": {
              content: "---\nname: pdf\ndescription: Reads PDF files.\nlicence: Apache-2.0\n---\nRead it.\n",
              encoding: "utf8",
            },
            "logo.png": { content: "if8A", encoding: "base64" },
            "scripts/read.py": { content: "print()\n", encoding: "utf8" },
          },
        },
      },
      functions: [{ module: tree.at("team/tools/add.mjs") }, { module: tree.at("team/Ulm.mjs"), exports: ["sub"] }],
      mcp_servers: {
        near: { command: tree.at("team/server"), args: ["./left-alone"], env: {} },
        found: { command: "npx", args: [], env: {} },
      },
    });
  });

  test("has its tools as a list, or as names that are on and off", () => {
    using tree = files({ "agent.yaml": "name: clerk\ntools: { Read: true, Bash: false, Glob: true }\n" });
    expect(readWritten(tree).tools).toEqual(["Read", "Glob"]);
  });

  test.each([
    ["missing.yaml", "no such file or directory"],
    ["directory", "it is a directory"],
    ["plain/agent.yaml", "a part of the path is not a directory"],
    ["circle.yaml", "its symbolic links lead in a circle"],
    ["latin1.yaml", "line 2 is not UTF-8 text, but perhaps Latin-1 or Windows-1252; save it as UTF-8"],
    ["utf16.yaml", "it is UTF-16 text; save it as UTF-8"],
    ["utf16be.yaml", "it is UTF-16 text; save it as UTF-8"],
    ["unmarked.yaml", "it contains NUL characters, as binary files and UTF-16 text do; save it as UTF-8"],
    ["large.yaml", "it is larger than 1 MiB"],
    ["/dev/zero", "it is larger than 1 MiB"],
  ])("%s cannot be read", (name, reason) => {
    using tree = files({
      plain: "",
      "directory/": "",
      "latin1.yaml": Buffer.from("name: clerk\ndescription: caf\u00e9\n", "latin1"),
      "utf16.yaml": Buffer.from("\uFEFFname: clerk\n", "utf16le"),
      "utf16be.yaml": Buffer.from("\uFEFFname: clerk\n", "utf16le").swap16(),
      "unmarked.yaml": Buffer.from("name: clerk\n", "utf16le"),
      "large.yaml": "#".repeat(10 * 1024 * 1024),
    });
    symlinkSync("circle.yaml", tree.at("circle.yaml"));
    const path = name.startsWith("/") ? name : tree.at(name);
    expect(() => readAgent(path, {})).toThrow(
      expect.objectContaining({
        code: "invalid_agent",
        message: `Cannot read the agent file ${path}: ${reason}.`,
        data: { file: path },
      }),
    );
  });
});

describe("a variable in an agent file", () => {
  test("is put in where a name or a path is meant, and nowhere else", () => {
    const text = `name: clerk
description: In \${TOWN}
instructions: In \${TOWN}
model: \${TOWN}-\${NONE:-plain}-\${DEPTH:-deep}-$\${TOWN}
commands: { go: { description: "\${TOWN}", prompt: "\${TOWN}" } }
hooks: { on_turn_end: [{ command: "echo \${TOWN}" }] }
permissions: { deny: ["Read(./\${TOWN}/**)"] }
output_schema: { title: "\${TOWN}" }
mcp_servers:
  near: { command: "\${TOWN}", args: ["--\${TOWN}"] }
  far: { type: http, url: "https://\${TOWN}.example/" }
environment: { workspace: { kind: clone, from: "/srv/\${TOWN}" } }
`;
    using tree = files({ "agent.yaml": text });
    expect(readWritten(tree)).toEqual({
      name: "clerk",
      description: "In ${TOWN}",
      instructions: "In ${TOWN}",
      model: "Ulm-plain-deep-${TOWN}",
      commands: { go: { description: "${TOWN}", prompt: "${TOWN}" } },
      hooks: { on_turn_end: [{ command: "echo ${TOWN}" }] },
      permissions: { deny: ["Read(./${TOWN}/**)"] },
      output_schema: { title: "${TOWN}" },
      mcp_servers: {
        near: { command: "Ulm", args: ["--Ulm"], env: {} },
        far: { type: "http", url: "https://Ulm.example/", headers: {} },
      },
      environment: { workspace: { kind: "clone", from: "/srv/Ulm" } },
    });
  });

  test("stays a reference where secrets are, and what is not set there is told", () => {
    const text = `name: clerk
mcp_servers:
  near: { command: x, env: { A: "\${TOWN}", B: "\${NONE}", C: "\${NONE:-c}" } }
  far: { type: sse, url: "https://x.example/", headers: { authorization: "Bearer \${TOKEN}" } }
environment: { variables: { D: "\${OTHER}" } }
`;
    using tree = files({ "agent.yaml": text });
    const { written: agent, unset } = readAgent(tree.at("agent.yaml"), VARIABLES);
    expect(agent.mcp_servers).toMatchObject({
      near: { env: { A: "${TOWN}", B: "${NONE}", C: "${NONE:-c}" } },
      far: { headers: { authorization: "Bearer ${TOKEN}" } },
    });
    expect(unset).toEqual([
      { path: ["mcp_servers", "near", "env", "B"], name: "NONE" },
      { path: ["mcp_servers", "far", "headers", "authorization"], name: "TOKEN" },
      { path: ["environment", "variables", "D"], name: "OTHER" },
    ]);
  });

  test("is not repeated by an error about its value", () => {
    const text = 'name: clerk\nmcp_servers: { far: { type: http, url: "${PLACE}" } }\n';
    using tree = files({ "agent.yaml": text });
    expect(() => readAgent(tree.at("agent.yaml"), { PLACE: "hunter2" })).toThrow(
      `${tree.at("agent.yaml")}:2:40 mcp_servers.far.url: expected an address that starts with https:// or http:// (found "\${PLACE}")`,
    );
  });
});
