import { symlinkSync, truncateSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { AGENT_TOOLS } from "../../src/config/agent-checks.ts";
import { readAgent } from "../../src/config/agent-file.ts";
import { BUILTIN_NAMES } from "../../src/engines/claude/builtin-tools.ts";
import { files } from "./files.ts";

const KEYS =
  "$schema, extends, name, description, instructions, inputs, model, fallback_model, effort, thinking, auth, tools, functions, mcp_servers, custom_tools, permissions, budget, subagents, skills, commands, hooks, output_schema, setting_sources, environment";
const TOOLS = AGENT_TOOLS.join(", ");
const ONLY = "cannot be honoured for a subagent; of its file only description, instructions, tools, model are taken";

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
];

function linesOf(path: string): string[] {
  try {
    readAgent(path, { ANTHROPIC_API_KEY: "k" });
    return [];
  } catch (error) {
    return (error as Error).message.split("\n").toSorted();
  }
}

describe("an agent file", () => {
  test.each(ONE_FILE)("with %s is refused, naming line, column and field", (_what, text, ...problems) => {
    using tree = files({ "agent.yaml": `name: a\n${text}\n` });
    const path = tree.at("agent.yaml");
    const lines = problems.map((problem) => `${path}:${problem}`).toSorted();
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
    expect(readAgent(tree.at("agent.yaml"), {}).written.permissions).toEqual({ allow: ["add"] });
  });
});

type OtherFile = readonly [
  what: string,
  text: string,
  other: Record<string, string | Uint8Array>,
  problems: readonly string[],
];

const SKILL = "---\nname: pdf\ndescription: Reads PDF files.\n---\n";

describe("a file that an agent file names", () => {
  test.each<OtherFile>([
    [
      "is not there",
      "instructions: { file: a.md }\nfunctions: [b.mjs, { module: c.mjs }]\noutput_schema: d.json\nsubagents: { e: e.yaml }\ncommands: { f: { file: f.md } }\nskills: [g]",
      {},
      [
        "2:23 instructions.file: Cannot read the instructions in @a.md: there is no such file or directory.",
        "3:13 functions.0: Cannot read the module @b.mjs: there is no such file or directory.",
        "3:30 functions.1.module: Cannot read the module @c.mjs: there is no such file or directory.",
        "4:16 output_schema: Cannot read the JSON Schema in @d.json: there is no such file or directory.",
        "5:17 subagents.e: Cannot read the subagent @e.yaml: there is no such file or directory.",
        "6:24 commands.f.file: Cannot read the prompt in @f.md: there is no such file or directory.",
        "7:10 skills.0: @g expected a directory with a file SKILL.md (found nothing)",
      ],
    ],
    [
      "is a directory",
      "functions: [lib]",
      { "lib/": "" },
      ["2:13 functions.0: Cannot read the module @lib: it is not a file."],
    ],
    [
      "is Latin-1",
      "instructions: { file: a.md }",
      { "a.md": Buffer.from("ol\u00e9", "latin1") },
      [
        "2:23 instructions.file: Cannot read the instructions in @a.md: line 1 is not UTF-8 text, but perhaps Latin-1 or Windows-1252; save it as UTF-8.",
      ],
    ],
    [
      "uses an input that there is not",
      "instructions: { file: a.md }\ninputs: { city: { type: string } }",
      { "a.md": "{{city}}\nIn {{ town }}.\n" },
      ["2:23 instructions.file: @a.md:2:4 {{town}} is none of the agent's inputs; declare town under inputs"],
    ],
    [
      "is no schema",
      "output_schema: a.json",
      { "a.json": '{\n  "type": "object"' },
      ["2:16 output_schema: @a.json:2:19 flow map must end with a }"],
    ],
    [
      "is a list",
      "output_schema: a.json",
      { "a.json": "[1]" },
      ["2:16 output_schema: @a.json:1:1 expected a mapping (found a list)"],
    ],
    [
      "is a subagent that wants more than it gets",
      "subagents: { b: b.yaml }",
      {
        "b.yaml":
          "name: b\nextends: c.yaml\ntools: { Bash: true }\npermissions: { mode: yolo }\ninstructions: { text: x, mode: append }\n",
      },
      [
        "2:17 subagents.b: @b.yaml:1:1 description: expected text (found nothing)",
        `2:17 subagents.b: @b.yaml:2:1 extends: ${ONLY}`,
        "2:17 subagents.b: @b.yaml:3:8 tools: expected a list (found a mapping)",
        `2:17 subagents.b: @b.yaml:4:1 permissions: ${ONLY}`,
        "2:17 subagents.b: @b.yaml:5:26 instructions.mode: cannot be honoured for a subagent",
      ],
    ],
    [
      "is a subagent without instructions, with a tool that there is not",
      "subagents: { b: b.yaml, c: c.yaml }",
      { "b.yaml": "description: x\n", "c.yaml": "description: x\ninstructions: { file: none.md }\n" },
      [
        "2:17 subagents.b: @b.yaml:1:1 instructions: expected text (found nothing)",
        "2:28 subagents.c: @c.yaml:2:23 instructions.file: Cannot read the instructions in @none.md: there is no such file or directory.",
      ],
    ],
    [
      "is a subagent with a tool that there is not",
      "subagents: { b: b.yaml }",
      { "b.yaml": "description: x\ninstructions: y\ntools: [Raed]\n" },
      ["2:17 subagents.b: there is no tool named Raed; did you mean Read?"],
    ],
    [
      "is an empty prompt",
      "commands: { go: { file: a.md } }",
      { "a.md": " \n" },
      ["2:25 commands.go.file: @a.md:1:1 expected a prompt (found an empty file)"],
    ],
    [
      "is a skill without a head",
      "skills: [a]",
      { "a/SKILL.md": "# A\n" },
      ["2:10 skills.0: @a/SKILL.md:1:1 expected --- and then name and description, ended by another ---"],
    ],
    [
      "is a skill with a wrong head",
      "skills: [a]",
      { "a/SKILL.md": "---\nname: A b\n---\n" },
      [
        "2:10 skills.0: @a/SKILL.md:2:1 description: expected text (found nothing)",
        '2:10 skills.0: @a/SKILL.md:2:7 name: expected up to 64 lower-case letters, digits and dashes (found "A b")',
      ],
    ],
    [
      "is no skill",
      "skills: [a]",
      { "a/README.md": "" },
      ["2:10 skills.0: @a expected a file SKILL.md in this directory (found none)"],
    ],
    [
      "is a skill by name only",
      "skills: [a]",
      { a: "" },
      ["2:10 skills.0: @a expected a directory with a file SKILL.md (found a file)"],
    ],
    [
      "is a skill of the same name",
      "skills: [a, b]",
      { "a/SKILL.md": SKILL, "b/SKILL.md": SKILL },
      ["2:13 skills.1: another skill of this agent is named pdf, too"],
    ],
    [
      "is a skill that is too large",
      "skills: [a]",
      { "a/SKILL.md": SKILL, "a/x": "x".repeat(700_000), "a/y": "x".repeat(700_000) },
      ["2:10 skills.0: @a its files have more than 1048576 bytes; @a/y is one too many"],
    ],
    [
      "is one of skills that are too large together",
      "skills: [a, b]",
      {
        "a/SKILL.md": SKILL,
        "a/x": "x".repeat(700_000),
        "b/SKILL.md": SKILL.replace("pdf", "doc"),
        "b/x": "x".repeat(700_000),
      },
      ["2:13 skills.1: the skills up to this one have more than 1048576 bytes"],
    ],
  ])("%s", (_what, text, other, problems) => {
    using tree = files({ "agent.yaml": `name: a\n${text}\n`, ...other });
    const path = tree.at("agent.yaml");
    expect(() => readAgent(path, {})).toThrow(
      expect.objectContaining({
        message: problems.map((problem) => `${path}:${problem.replaceAll("@", `${tree.path}/`)}`).join("\n"),
      }),
    );
  });

  test("is a skill with a symbolic link, or with a file like no other", () => {
    using tree = files({
      "agent.yaml": "name: a\nskills: [a, b, c]\n",
      "a/SKILL.md": SKILL,
      "b/SKILL.md": SKILL,
      "b/big": "",
    });
    symlinkSync("SKILL.md", tree.at("a/passwd"));
    symlinkSync("a", tree.at("c"));
    truncateSync(tree.at("b/big"), 10 ** 10);
    const path = tree.at("agent.yaml");
    expect(() => readAgent(path, {})).toThrow(
      expect.objectContaining({
        message: [
          `${path}:2:10 skills.0: ${tree.at("a/passwd")} expected a plain file (found a symbolic link); put the file itself there`,
          `${path}:2:13 skills.1: ${tree.at("b/big")} cannot be read: it has 10000000000 bytes, and all skills together at most 1048576`,
          `${path}:2:16 skills.2: ${tree.at("c")} expected a directory with a file SKILL.md (found a symbolic link)`,
        ].join("\n"),
      }),
    );
  });
});
