import { ENVIRONMENT_PAIRS } from "./environment-pairs.ts";
import { type Pair, pair } from "./pair.ts";
import { TOOL_PAIRS } from "./tool-pairs.ts";

const worker = (field: string): string => `subagents: { worker: { description: d, instructions: i${field} } }`;
const input = (field: string): string => `inputs: { page: { ${field} } }`;
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
    [`hooks.${kind}.*.command[text]`, hook(kind, "command", ["check", "look"])],
    [`hooks.${kind}.*.command[list].*`, hook(kind, "command", ["[check, -a]", "[check, -b]"])],
    [`hooks.${kind}.*.timeout_ms`, hook(kind, "timeout_ms", ["1", "10000"])],
    ...(kind.startsWith("before_")
      ? [[`hooks.${kind}.*.on_failure`, hook(kind, "on_failure", ["deny", "continue"])] as const]
      : []),
    ...(kind.endsWith("_tool") ? [[`hooks.${kind}.*.matcher`, hook(kind, "matcher", ["Bash", "Read"])] as const] : []),
  ],
);

const PAGE = { both: "instructions: 'Page {{page}}.'" };
const DEFAULTS = {
  string: ["a", "b"],
  number: ["1.5", "2.5"],
  integer: ["1", "2"],
  boolean: ["true", "false"],
} as const;
const INPUTS = Object.entries(DEFAULTS).flatMap(([type, [one, other]]): (readonly [string, Pair])[] => {
  const both = (field: string, values: readonly [string, string]): Pair["lines"] => [
    input(`type: ${type}, ${field}: ${values[0]}`),
    input(`type: ${type}, ${field}: ${values[1]}`),
  ];
  return [
    // Told to whoever has not given it.
    [
      `inputs.*[${type}].description`,
      pair(both("description", ["first", "last"]), "instructions", { ...PAGE, refused: true }),
    ],
    [`inputs.*[${type}].default`, pair(both("default", [one, other]), "instructions", PAGE)],
  ];
});

const BUDGET = ["usd", "tokens", "input_tokens", "output_tokens", "cache_tokens", "turns", "tool_calls", "deadline_ms"];

/** Says nothing: an editor reads it. */
export const EXEMPT: Readonly<Record<string, string>> = { $schema: "for editors alone" };

export const PAIRS: Readonly<Record<string, Pair>> = {
  extends: pair(["extends: base-a.yaml", "extends: base-b.yaml"], "instructions"),
  name: pair(["name: clerk", "name: other"], "limit"),
  tests: pair(["tests: { cases: [{ name: a, input: x }] }", "tests: { cases: [{ name: a, input: y }] }"], "suite"),
  description: pair(["description: a", "description: b"], "report"),
  "instructions[text]": pair(["instructions: A.", "instructions: B."], "sdk options"),
  "instructions[mapping].text": pair(["instructions: { text: A. }", "instructions: { text: B. }"], "sdk options"),
  "instructions[mapping].file": pair(["instructions: { file: a.md }", "instructions: { file: b.md }"], "sdk options"),
  "instructions[mapping].mode": pair(
    ["instructions: { text: A., mode: replace }", "instructions: { text: A., mode: append }"],
    "sdk options",
  ),
  "inputs.*.type": pair([input("type: string"), input("type: integer")], "instructions", {
    ...PAGE,
    asked: '{ "page": "1.5" }',
  }),
  ...Object.fromEntries(INPUTS),
  "inputs.*[string].enum.*": pair(
    [input("type: string, enum: [a]"), input("type: string, enum: [b]")],
    "instructions",
    {
      ...PAGE,
      asked: '{ "page": "a" }',
    },
  ),
  engine: pair(["engine: claude", "engine: direct"], "engine"),
  model: pair(["model: haiku", "model: sonnet"], "sdk options"),
  fallback_model: pair(["fallback_model: haiku", "fallback_model: sonnet"], "sdk options"),
  effort: pair(["effort: low", "effort: high"], "sdk options"),
  compact_at: pair(["compact_at: 100000", "compact_at: 200000"], "sdk options"),
  "thinking[text]": pair(["thinking: adaptive", "thinking: disabled"], "sdk options"),
  "thinking[mapping].budget_tokens": pair(
    ["thinking: { budget_tokens: 2000 }", "thinking: { budget_tokens: 3000 }"],
    "sdk options",
    { both: "model: claude-sonnet-4-5" },
  ),
  ...TOOL_PAIRS,
  ...Object.fromEntries(BUDGET.map((name) => [`budget.${name}`, budget(name)])),
  "budget.warn_at": pair(["budget: { usd: 3, warn_at: 0.5 }", "budget: { usd: 3, warn_at: 0.9 }"], "limit"),
  "budget.ask_at": pair(["budget: { usd: 3, ask_at: 0.5 }", "budget: { usd: 3, ask_at: 0.9 }"], "limit"),
  "budget.steps": pair(["budget: { steps: 1 }", "budget: { steps: 2 }"], "sdk options"),
  "subagents.*[text]": pair(["subagents: { worker: sub-a.yaml }", "subagents: { worker: sub-b.yaml }"], "sdk options"),
  "subagents.*[mapping].description": pair(
    [worker(""), "subagents: { worker: { description: e, instructions: i } }"],
    "sdk options",
  ),
  "subagents.*[mapping].instructions": pair(
    [worker(""), "subagents: { worker: { description: d, instructions: j } }"],
    "sdk options",
  ),
  "subagents.*[mapping].tools.*": pair([worker(", tools: [Read]"), worker(", tools: [Bash]")], "sdk options"),
  "subagents.*[mapping].model": pair([worker(", model: haiku"), worker(", model: sonnet")], "sdk options"),
  "skills.*": pair(["skills: [skills/tidy]", "skills: [skills/greet]"], "sdk options"),
  "commands.*.description": pair(
    ["commands: { go: { prompt: Go., description: d } }", "commands: { go: { prompt: Go., description: e } }"],
    "help",
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
  "output_schema[text]": pair(["output_schema: a.json", "output_schema: b.json"], "sdk options"),
  "output_schema[mapping]": pair(
    ["output_schema: { type: object, required: [a] }", "output_schema: { type: object, required: [b] }"],
    "sdk options",
  ),
  "setting_sources.*": pair(["", "setting_sources: [project]"], "instructions"),
  ...ENVIRONMENT_PAIRS,
};
