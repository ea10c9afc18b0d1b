import { ENVIRONMENT_PAIRS } from "./environment-pairs.ts";
import { type Pair, pair } from "./pair.ts";

const worker = (field: string): string => `subagents: { worker: { description: d, instructions: i${field} } }`;
const input = (field: string): string => `inputs: { page: { ${field} } }`;
const server = (field: string): string => `mcp_servers: { files: { command: serve${field} } }`;
const remote = (field: string): string => `mcp_servers: { shop: { ${field} } }`;
const custom = (field: string): string => `custom_tools: [{ ${field}, input_schema: { type: object } }]`;
const permission = (list: string, rules: readonly [string, string]): Pair =>
  pair([`permissions: { ${list}: [${rules[0]}] }`, `permissions: { ${list}: [${rules[1]}] }`], "decision", {
    both: "tools: [Bash]",
    asked: "Bash(make all)",
  });
const budget = (name: string, values: readonly [number, number] = [1, 3]): Pair =>
  pair([`budget: { ${name}: ${values[0]} }`, `budget: { ${name}: ${values[1]} }`], "limit");
const hook = (kind: string, field: string, values: readonly [string, string]): Pair => {
  const line = (value: string): string =>
    `hooks: { ${kind}: [{ ${field === "command" ? "" : "command: check, "}${field}: ${value} }] }`;
  return pair([line(values[0]), line(values[1])], "hooks");
};

const HOOKS = ["before_prompt", "before_tool", "after_tool", "on_turn_end", "on_session_end"].flatMap(
  (kind): (readonly [string, Pair])[] => [
    [`hooks.${kind}.*.name`, hook(kind, "name", ["one", "other"])],
    [`hooks.${kind}.*.command`, hook(kind, "command", ["check", "look"])],
    [`hooks.${kind}.*.command.*`, hook(kind, "command", ["[check, -a]", "[check, -b]"])],
    [`hooks.${kind}.*.timeout_ms`, hook(kind, "timeout_ms", ["1", "10000"])],
    ...(kind.startsWith("before_")
      ? [[`hooks.${kind}.*.on_failure`, hook(kind, "on_failure", ["deny", "continue"])] as const]
      : []),
    ...(kind.endsWith("_tool") ? [[`hooks.${kind}.*.matcher`, hook(kind, "matcher", ["Bash", "Read"])] as const] : []),
  ],
);

const BUDGET = ["usd", "tokens", "input_tokens", "output_tokens", "cache_tokens", "turns", "tool_calls", "deadline_ms"];

/** Says nothing: an editor reads it. */
export const EXEMPT: Readonly<Record<string, string>> = { $schema: "for editors alone" };

export const PAIRS: Readonly<Record<string, Pair>> = {
  extends: pair(["extends: base-a.yaml", "extends: base-b.yaml"], "instructions"),
  name: pair(["name: clerk", "name: other"], "limit"),
  description: pair(["description: a", "description: b"], "definition"),
  instructions: pair(["instructions: A.", "instructions: B."], "sdk options"),
  "instructions.text": pair(["instructions: { text: A. }", "instructions: { text: B. }"], "sdk options"),
  "instructions.file": pair(["instructions: { file: a.md }", "instructions: { file: b.md }"], "sdk options"),
  "instructions.mode": pair(
    ["instructions: { text: A., mode: replace }", "instructions: { text: A., mode: append }"],
    "sdk options",
  ),
  "inputs.*.description": pair(
    [input("type: string, description: first"), input("type: string, description: last")],
    "instructions",
    { both: "instructions: 'Page {{page}}.'", refused: true },
  ),
  "inputs.*.type": pair([input("type: string"), input("type: integer")], "instructions", {
    both: "instructions: 'Page {{page}}.'",
    asked: '{ "page": "1.5" }',
  }),
  "inputs.*.default": pair([input("type: string, default: a"), input("type: string, default: b")], "instructions", {
    both: "instructions: 'Page {{page}}.'",
  }),
  "inputs.*.enum.*": pair([input("type: string, enum: [a]"), input("type: string, enum: [b]")], "instructions", {
    both: "instructions: 'Page {{page}}.'",
    asked: '{ "page": "a" }',
  }),
  model: pair(["model: haiku", "model: sonnet"], "sdk options"),
  fallback_model: pair(["fallback_model: haiku", "fallback_model: sonnet"], "sdk options"),
  effort: pair(["effort: low", "effort: high"], "sdk options"),
  thinking: pair(["thinking: adaptive", "thinking: disabled"], "sdk options"),
  "thinking.budget_tokens": pair(
    ["thinking: { budget_tokens: 2000 }", "thinking: { budget_tokens: 3000 }"],
    "sdk options",
    { both: "model: claude-sonnet-4-5" },
  ),
  auth: pair(["auth: api_key", "auth: auth_token"], "model request"),
  "tools.*": pair(["tools: [Read]", "tools: [Bash]"], "sdk options"),
  "functions.*": pair(["functions: [a.mjs]", "functions: [b.mjs]"], "tools"),
  "functions.*.module": pair(["functions: [{ module: a.mjs }]", "functions: [{ module: b.mjs }]"], "tools"),
  "functions.*.exports.*": pair(
    ["functions: [{ module: b.mjs, exports: [second] }]", "functions: [{ module: b.mjs, exports: [third] }]"],
    "tools",
  ),
  "mcp_servers.*.type": pair(
    [remote("type: http, url: 'https://shop.example/mcp'"), remote("type: sse, url: 'https://shop.example/mcp'")],
    "connection",
  ),
  "mcp_servers.*.command": pair(
    ["mcp_servers: { files: { command: serve } }", "mcp_servers: { files: { command: other } }"],
    "server process",
  ),
  "mcp_servers.*.args.*": pair([server(", args: [-a]"), server(", args: [-b]")], "server process"),
  "mcp_servers.*.env.*": pair([server(", env: { A: one }"), server(", env: { A: two }")], "server process"),
  "mcp_servers.*.outside_sandbox": pair(
    [server(", outside_sandbox: false"), server(", outside_sandbox: true")],
    "server process",
    { both: "environment: { sandbox: { mode: preferred } }" },
  ),
  "mcp_servers.*.tools.*": pair([server(", tools: { list: allow }"), server(", tools: { list: deny }")], "decision", {
    asked: "mcp__files__list",
  }),
  "mcp_servers.*.url": pair(
    [remote("type: http, url: 'https://a.example/mcp'"), remote("type: http, url: 'https://b.example/mcp'")],
    "connection",
  ),
  "mcp_servers.*.headers.*": pair(
    [
      remote("type: http, url: 'https://a.example/mcp', headers: { X-Shop: one }"),
      remote("type: http, url: 'https://a.example/mcp', headers: { X-Shop: two }"),
    ],
    "connection",
  ),
  "custom_tools.*.name": pair([custom("name: a, description: d"), custom("name: b, description: d")], "tools"),
  "custom_tools.*.description": pair([custom("name: a, description: d"), custom("name: a, description: e")], "tools"),
  "custom_tools.*.input_schema": pair(
    [
      custom("name: a, description: d"),
      "custom_tools: [{ name: a, description: d, input_schema: { type: object, required: [x] } }]",
    ],
    "tools",
  ),
  "permissions.mode": pair(["permissions: { mode: normal }", "permissions: { mode: yolo }"], "decision", {
    both: "tools: [Bash]",
    asked: "Bash(make all)",
  }),
  "permissions.allow.*": permission("allow", ["Bash(make all)", "Bash(make one)"]),
  "permissions.ask.*": permission("ask", ["Bash(make all)", "Bash(make one)"]),
  "permissions.ask.*.rule": permission("ask", [
    "{ rule: Bash(make all), remember: true }",
    "{ rule: Bash(make one), remember: true }",
  ]),
  "permissions.ask.*.remember": permission("ask", [
    "{ rule: Bash(make all), remember: true }",
    "{ rule: Bash(make all), remember: false }",
  ]),
  "permissions.deny.*": permission("deny", ["Bash(make all)", "Bash(make one)"]),
  "permissions.approvals_expire_ms": pair(["", "permissions: { approvals_expire_ms: 60000 }"], "log", {
    both: "tools: [Bash]",
  }),
  ...Object.fromEntries(BUDGET.map((name) => [`budget.${name}`, budget(name)])),
  "budget.warn_at": pair(["budget: { usd: 3, warn_at: 0.5 }", "budget: { usd: 3, warn_at: 0.9 }"], "limit"),
  "budget.ask_at": pair(["budget: { usd: 3, ask_at: 0.5 }", "budget: { usd: 3, ask_at: 0.9 }"], "limit"),
  "budget.steps": pair(["budget: { steps: 1 }", "budget: { steps: 2 }"], "sdk options"),
  "subagents.*": pair(["subagents: { worker: sub-a.yaml }", "subagents: { worker: sub-b.yaml }"], "sdk options"),
  "subagents.*.description": pair(
    [worker(""), "subagents: { worker: { description: e, instructions: i } }"],
    "sdk options",
  ),
  "subagents.*.instructions": pair(
    [worker(""), "subagents: { worker: { description: d, instructions: j } }"],
    "sdk options",
  ),
  "subagents.*.tools.*": pair([worker(", tools: [Read]"), worker(", tools: [Bash]")], "sdk options"),
  "subagents.*.model": pair([worker(", model: haiku"), worker(", model: sonnet")], "sdk options"),
  "skills.*": pair(["skills: [skills/tidy]", "skills: [skills/greet]"], "sdk options"),
  "commands.*.description": pair(
    ["commands: { go: { prompt: Go., description: d } }", "commands: { go: { prompt: Go., description: e } }"],
    "definition",
  ),
  "commands.*.prompt": pair(
    ["commands: { go: { prompt: Go left. } }", "commands: { go: { prompt: Go right. } }"],
    "message",
    { asked: "/go now" },
  ),
  "commands.*.file": pair(["commands: { go: { file: a.md } }", "commands: { go: { file: b.md } }"], "message", {
    asked: "/go now",
  }),
  ...Object.fromEntries(HOOKS),
  output_schema: pair(
    ["output_schema: { type: object, required: [a] }", "output_schema: { type: object, required: [b] }"],
    "sdk options",
  ),
  "setting_sources.*": pair(["", "setting_sources: [project]"], "instructions"),
  ...ENVIRONMENT_PAIRS,
};
