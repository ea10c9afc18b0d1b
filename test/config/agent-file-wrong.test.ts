import { symlinkSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { AGENT_TOOLS } from "../../src/config/agent/agent-tool-checks.ts";
import { readAgent } from "../../src/config/agent/agent-file.ts";
import { BUILTIN_NAMES } from "../../src/engines/builtin-tools.ts";
import { files } from "./files.ts";

const KEYS =
  "$schema, extends, name, description, instructions, inputs, engine, model, fallback_model, effort, thinking, compact_at, auth, tools, functions, mcp_servers, custom_tools, permissions, budget, subagents, skills, commands, hooks, output_schema, setting_sources, tests, environment";
const TOOLS = AGENT_TOOLS.join(", ");

const NOT_AT_BEDROCK =
  "WebSearch cannot be honoured by bedrock: Amazon Bedrock does not have it. Take the tool out, or use another provider";
const PAST = "would lead the agent past the gateway; credentials and addresses are the host's to set, so leave it out";

type Case = readonly [what: string, text: string, ...problems: string[]];

/** One file, after `name: a` on its first line. */
const ONE_FILE: readonly Case[] = [
  ["an unknown key", "budjet: {}", '2:1 budjet: unknown key; did you mean "budget"?'],
  ["an unknown key like no other", "colour: red", `2:1 colour: unknown key; known are ${KEYS}`],
  ["a key of another product", "response_format: {}", `2:1 response_format: unknown key; known are ${KEYS}`],
  ["instructions as a number", "instructions: 5", "2:15 instructions: expected text or a mapping (found 5)"],
  [
    "instructions twice",
    "instructions: { text: a, file: b }",
    "2:15 instructions: expected either text or file (found both)",
  ],
  [
    "instructions without any",
    "instructions: { mode: append }",
    "2:15 instructions: expected either text or file (found neither)",
  ],
  [
    "an unknown way to use instructions",
    "instructions: { text: a, mode: prepend }",
    '2:32 instructions.mode: expected one of replace, append (found "prepend")',
  ],
  [
    "an unknown key of instructions",
    "instructions: { path: a }",
    "2:17 instructions.path: unknown key; known are text, file, mode",
    "2:15 instructions: expected either text or file (found neither)",
  ],
  [
    "an unknown effort",
    "effort: maximal",
    '2:9 effort: expected one of low, medium, high, xhigh, max (found "maximal")',
  ],
  ["an unknown way to think", "thinking: hard", '2:11 thinking: expected one of adaptive, disabled (found "hard")'],
  [
    "too little thinking",
    "thinking: { budget_tokens: 5 }",
    "2:28 thinking.budget_tokens: expected a number of at least 1024 (found 5)",
  ],
  [
    "an unknown provider",
    "auth: bedrok",
    '2:7 auth: expected one of api_key, auth_token, oauth_token, bedrock, vertex, foundry (found "bedrok"); did you mean "bedrock"?',
  ],
  [
    "the address of a provider",
    "auth: { provider: bedrock }",
    "2:7 auth: expected one of api_key, auth_token, oauth_token, bedrock, vertex, foundry (found a mapping)",
  ],
  ["a tool that is mistyped", "tools: [Read, Bsh]", "2:15 tools.1: there is no tool named Bsh; did you mean Bash?"],
  ["a tool like no other", "tools: [Teleport]", `2:9 tools.0: there is no tool named Teleport; known are ${TOOLS}`],
  ["a tool in lower case", "tools: [read]", "2:9 tools.0: there is no tool named read; did you mean Read?"],
  [
    "a tool that belongs to a mode",
    "tools: { ExitPlanMode: true }",
    `2:10 tools.ExitPlanMode: there is no tool named ExitPlanMode; known are ${TOOLS}`,
  ],
  ["a tool that is neither on nor off", "tools: { Bash: on }", '2:16 tools.Bash: expected true or false (found "on")'],
  ["tools as a word", "tools: Bash", '2:8 tools: expected a list or a mapping (found "Bash")'],
  [
    "a tool of a server that is mistyped",
    "tools: [mcp__fiels__list]\nmcp_servers: { files: { command: x } }",
    "2:9 tools.0: there is no server fiels in mcp_servers; did you mean files?",
  ],
  [
    "a tool of no server",
    "subagents: { b: { description: x, instructions: y, tools: [mcp__files__list] } }",
    "2:60 subagents.b.tools.0: there is no server files in mcp_servers",
  ],
  [
    "rules for tools that are mistyped",
    "permissions: { deny: [Bsh], ask: [{ rule: Edti, remember: false }] }\nhooks: { before_tool: [{ command: x, matcher: Wirte }] }",
    '2:23 permissions.deny.0: there is no tool named Bsh, which the rule "Bsh" speaks of. Did you mean Bash?',
    '2:43 permissions.ask.0.rule: there is no tool named Edti, which the rule "Edti" speaks of. Did you mean Edit?',
    '3:47 hooks.before_tool.0.matcher: there is no tool named Wirte, which the rule "Wirte" speaks of. Did you mean Write?',
  ],
  [
    "rules for servers that are mistyped",
    "permissions: { deny: [mcp__fiels, mcp__fiels__list, mcp__fi*], allow: [mcp__files, mcp__capstan__add] }\nmcp_servers: { files: { command: x } }",
    "2:23 permissions.deny.0: there is no server fiels in mcp_servers; did you mean files?",
    "2:35 permissions.deny.1: there is no server fiels in mcp_servers; did you mean files?",
  ],
  [
    "a tool that the provider does not have",
    "auth: bedrock\ntools: [Read, WebSearch]\nsubagents: { b: { description: x, instructions: y, tools: [WebSearch] } }",
    `3:15 tools.1: ${NOT_AT_BEDROCK}`,
    `4:60 subagents.b.tools.0: ${NOT_AT_BEDROCK}`,
  ],
  [
    "variables that lead past the gateway",
    "environment: { variables: { A: b, ANTHROPIC_API_KEY: x, https_proxy: y } }",
    `2:54 environment.variables.ANTHROPIC_API_KEY: ${PAST}`,
    `2:70 environment.variables.https_proxy: ${PAST}`,
  ],
  [
    "a server without a kind",
    "mcp_servers: { far: { type: htp, url: 'https://x.example' } }",
    '2:29 mcp_servers.far.type: expected one of stdio, http, sse (found "htp"); did you mean "http"?',
  ],
  [
    "an address without a kind",
    "mcp_servers: { far: { url: 'https://x.example' } }",
    "2:23 mcp_servers.far.url: expected type: http or type: sse beside it",
  ],
  [
    "a program with a wrong key",
    "mcp_servers: { near: { command: x, arg: [] } }",
    '2:36 mcp_servers.near.arg: unknown key; did you mean "args"?',
  ],
  [
    "a server with an unknown policy",
    "mcp_servers: { near: { command: x, tools: { list: never } } }",
    '2:51 mcp_servers.near.tools.list: expected one of allow, ask, deny (found "never")',
  ],
  [
    "an input of an unknown type",
    "inputs: { city: { type: text } }\ninstructions: '{{city}}'",
    '2:25 inputs.city.type: expected one of string, number, integer, boolean (found "text")',
  ],
  [
    "an input with a wrong name",
    "inputs: { City: { type: string } }",
    '2:11 inputs.City: expected lower-case letters, digits and _, starting with a letter (found "City")',
  ],
  [
    "an input with a wrong default",
    "inputs: { city: { type: integer, default: Ulm } }\ninstructions: '{{city}}'",
    '2:43 inputs.city.default: expected a number (found "Ulm")',
  ],
  [
    "an input that nothing uses, and a use of none",
    "inputs: { city: { type: string } }\ninstructions: In {{ctiy}}.",
    "2:11 inputs.city: nothing uses this input; write {{city}} in the instructions, or remove it",
    "3:15 instructions: {{ctiy}} is none of the agent's inputs; did you mean {{city}}?",
  ],
  [
    "a use of no input at all",
    "instructions: { text: 'In {{ town }}.' }",
    "2:23 instructions.text: {{town}} is none of the agent's inputs; declare town under inputs",
  ],
  [
    "a command without a prompt",
    "commands: { go: {} }",
    "2:17 commands.go: expected either prompt or file (found neither)",
  ],
  [
    "a command with a wrong name",
    "commands: { /go: { prompt: x } }",
    '2:13 commands."/go": expected lower-case letters, digits and dashes, starting with a letter (found "/go")',
  ],
  [
    "settings of the user",
    "setting_sources: [user]",
    "2:19 setting_sources.0: user cannot be honoured: an agent's process has a home of its own, and your Claude settings are not in it",
  ],
  [
    "an engine that nobody knows",
    "engine: codex",
    '2:9 engine: There is no engine "codex". Choose one of: claude, direct',
  ],
  ["settings of nobody", "setting_sources: [team]", '2:19 setting_sources.0: expected project (found "team")'],
  [
    "a variable that is not set",
    "model: ${NONE}",
    "2:8 model: the variable NONE is not set; set it in the shell or in .env, or write ${NONE:-words}",
  ],
  [
    "half a reference",
    "mcp_servers: { near: { command: x, env: { A: '${' } } }",
    "2:46 mcp_servers.near.env.A: expected ${NAME} or ${NAME:-words}; write $${ for a plain ${",
  ],
  [
    "a reference in another",
    "model: ${NONE:-${OTHER}}",
    "2:8 model: expected ${NAME} or ${NAME:-words}; write $${ for a plain ${",
  ],
  [
    "a secret where it would be stored",
    "mcp_servers: { near: { command: x, args: ['--token=${SHOP_TOKEN:-x}'] } }",
    "2:43 mcp_servers.near.args.0: the variable SHOP_TOKEN sounds like a secret, and this field is stored and shown; give it in env or headers of the server",
  ],
  [
    "the host's credentials",
    "model: ${ANTHROPIC_API_KEY}\nmcp_servers: { near: { command: x, env: { A: '${AWS_SECRET_ACCESS_KEY:-x}' } } }",
    "2:8 model: the variable ANTHROPIC_API_KEY is a credential of the host's, which no agent gets to see; use another one",
    "3:46 mcp_servers.near.env.A: the variable AWS_SECRET_ACCESS_KEY is a credential of the host's, which no agent gets to see; use another one",
  ],
  [
    "mistakes of every kind tells all of them",
    [
      "budget: { usd: much }",
      "permissions: { mode: yollo, deny: [Bsh] }",
      "instructions: In {{ctiy}}.",
      "inputs: { city: { type: string } }",
      "skills: [none]",
      "tools: [Raed, mcp__files__list]",
      "mcp_servers: { files: { command: x, arg: [] } }",
    ].join("\n"),
    '2:16 budget.usd: expected a number (found "much")',
    '3:22 permissions.mode: expected one of normal, accept-edits, read-only, plan, yolo (found "yollo"); did you mean "yolo"?',
    '3:36 permissions.deny.0: there is no tool named Bsh, which the rule "Bsh" speaks of. Did you mean Bash?',
    "4:15 instructions: {{ctiy}} is none of the agent's inputs; did you mean {{city}}?",
    "5:11 inputs.city: nothing uses this input; write {{city}} in the instructions, or remove it",
    "6:10 skills.0: @none expected a directory with a file SKILL.md (found nothing)",
    "7:9 tools.0: there is no tool named Raed; did you mean Read?",
    '8:37 mcp_servers.files.arg: unknown key; did you mean "args"?',
  ],
  [
    "a mistake tells nothing that only follows from it",
    "inputs: { City: { type: string } }\ninstructions: '{{city}}'\nmcp_serves: { files: { command: x } }\ntools: [mcp__files__list, lookup]\ncustom_tools: lookup",
    '2:11 inputs.City: expected lower-case letters, digits and _, starting with a letter (found "City")',
    '4:1 mcp_serves: unknown key; did you mean "mcp_servers"?',
    '6:15 custom_tools: expected a list (found "lookup")',
  ],
];

function linesOf(path: string): string[] {
  try {
    readAgent(path, { ANTHROPIC_API_KEY: "k" });
    return [];
  } catch (error) {
    return (error as Error).message.split("\n").toSorted();
  }
}

function denying(functions: string): string {
  return `name: a\nfunctions: ${functions}\npermissions: { deny: [Bsh] }\n`;
}

describe("an agent file", () => {
  test.each(ONE_FILE)("with %s is refused, naming line, column and field", (_what, text, ...problems) => {
    using tree = files({ "agent.yaml": `name: a\n${text}\n` });
    const path = tree.at("agent.yaml");
    const lines = problems.map((problem) => `${path}:${problem.replaceAll("@", `${tree.path}/`)}`).toSorted();
    expect(() => readAgent(path, { ANTHROPIC_API_KEY: "k" })).toThrow(
      expect.objectContaining({ code: "invalid_agent" }),
    );
    expect(linesOf(path)).toEqual(lines);
  });

  test("names no file where credentials are kept, not even by a link, and none that never ends", () => {
    using tree = files({
      ".capstan/credentials.json": "{}",
      ".ssh/id_rsa": "key",
      "keys/api": "key",
      "app/agent.yaml": [
        "name: a",
        "instructions: { file: ../.capstan/credentials.json }",
        "commands: { show: { file: key }, wait: { file: /dev/zero } }",
        "output_schema: ../keys/api",
        "skills: [../.ssh]",
      ].join("\n"),
    });
    symlinkSync("../.ssh/id_rsa", tree.at("app/key"));
    const path = tree.at("app/agent.yaml");
    const kept = "is where credentials are kept, which no agent file may name";
    expect(() => readAgent(path, { HOME: tree.path, ANTHROPIC_API_KEY_FILE: tree.at("keys/api") })).toThrow(
      expect.objectContaining({
        message: [
          `${path}:2:23 instructions.file: ${tree.at(".capstan/credentials.json")} ${kept}`,
          `${path}:3:27 commands.show.file: ${tree.at("app/key")} ${kept}`,
          `${path}:3:48 commands.wait.file: /dev/zero is neither a file nor a directory`,
          `${path}:4:16 output_schema: ${tree.at("keys/api")} ${kept}`,
          `${path}:5:10 skills.0: ${tree.at(".ssh")} ${kept}`,
        ].join("\n"),
      }),
    );
  });

  test("knows the tools that the engine has", () => {
    expect(AGENT_TOOLS.toSorted()).toEqual(BUILTIN_NAMES.toSorted());
  });

  test("needs a name", () => {
    using tree = files({ "agent.yaml": "model: opus\n" });
    expect(() => readAgent(tree.at("agent.yaml"), {})).toThrow(
      `${tree.at("agent.yaml")}:1:1 name: expected text (found nothing)`,
    );
  });

  test("may name tools and rules that its functions bring, which are known when they are loaded", () => {
    using tree = files({
      "agent.yaml":
        "name: a\nfunctions: [f.mjs]\npermissions: { allow: [add] }\nsubagents: { b: { description: x, instructions: y, tools: [add] } }\n",
      "f.mjs": "throw new Error('not loaded');",
    });
    const { written, unchecked } = readAgent(tree.at("agent.yaml"), {});
    expect(written.permissions).toEqual({ allow: ["add"] });
    expect(unchecked).toEqual([
      { path: ["subagents", "b", "tools", 0], name: "add" },
      { path: ["permissions", "allow", 0], name: "add" },
    ]);
  });

  test("may not name tools that look like a mistake, unless its functions are said to have them", () => {
    using tree = files({
      "any.yaml": denying("[f.mjs]"),
      "named.yaml": denying("[{ module: f.mjs, exports: [Bsh] }]"),
      "f.mjs": "",
    });
    expect(() => readAgent(tree.at("any.yaml"), {})).toThrow(
      `any.yaml:3:23 permissions.deny.0: there is no tool named Bsh, which the rule "Bsh" speaks of. Did you mean Bash? For a function of that name write { module: …, exports: [Bsh] }`,
    );
    expect(readAgent(tree.at("named.yaml"), {}).unchecked).toEqual([]);
    using other = files({ "agent.yaml": denying("[{ module: f.mjs, exports: [subtract] }]"), "f.mjs": "" });
    expect(() => readAgent(other.at("agent.yaml"), {})).toThrow("3:23 permissions.deny.0: there is no tool named Bsh");
  });

  test("that changes the tools of another may turn off what the provider does not have", () => {
    using tree = files({
      "agent.yaml": "name: a\nextends: b.yaml\nauth: bedrock\ntools: { WebSearch: false }\n",
      "b.yaml": "tools: [Read, WebSearch]\n",
    });
    expect(readAgent(tree.at("agent.yaml"), {}).written.tools).toEqual(["Read"]);
  });
});
