import { describe, expect, test } from "vitest";
import { parseYaml } from "../../src/config/yaml/yaml-file.ts";
import { agentDefinition } from "../../src/core/agent/agent-definition.ts";

const parse = (text: string): unknown =>
  parseYaml(text, { file: "agent.yaml", code: "invalid_agent", schema: agentDefinition });

const HEAD = "name: clerk\nmodel: opus\n";
const MODES = "normal, accept-edits, read-only, plan, yolo";

describe("a YAML file", () => {
  test.each<[what: string, text: string]>([
    ["plain lines", "name: clerk\nmodel: opus\ntools: [Read]\n"],
    ["Windows line ends", "name: clerk\r\nmodel: opus\r\ntools: [Read]\r\n"],
    ["a byte order mark", "\uFEFFname: clerk\nmodel: opus\ntools: [Read]\n"],
    ["comments and a document start", "# who\n---\nname: clerk\nmodel: opus # large\ntools:\n  - Read\n"],
    ["a directive for 1.2", "%YAML 1.2\n---\nname: clerk\nmodel: opus\ntools: [Read]\n"],
    ["JSON", '{ "name": "clerk", "model": "opus", "tools": ["Read"] }'],
  ])("with %s is read", (_what, text) => {
    expect(parse(text)).toMatchObject({ name: "clerk", model: "opus", tools: ["Read"] });
  });

  test("has the words of YAML 1.2 only: yes, a date and an octal number of 1.1 are text", () => {
    const text = `${HEAD}output_schema: { enum: [yes, 2020-01-01, 1_000], <<: base }\n`;
    expect(parse(text)).toMatchObject({ output_schema: { enum: ["yes", "2020-01-01", "1_000"], "<<": "base" } });
  });

  test("may use an anchor twice", () => {
    const text = `${HEAD}permissions:\n  allow: &some [Read, Grep]\n  ask: *some\n`;
    expect(parse(text)).toMatchObject({ permissions: { allow: ["Read", "Grep"], ask: ["Read", "Grep"] } });
  });

  const tool = "expected a tool name such as Bash or mcp__server__tool, without a pattern";
  const keys = Object.keys(agentDefinition.shape).join(", ");
  test.each<[what: string, text: string, ...problems: string[]]>([
    ["a wrong type", `${HEAD}budget:\n  usd: ten\n`, '4:8 budget.usd: expected a number (found "ten")'],
    ["true for a text", `${HEAD}instructions: true\n`, "3:15 instructions: expected text (found true)"],
    ["text for a list", `${HEAD}tools: Read\n`, '3:8 tools: expected a list (found "Read")'],
    ["a list for a mapping", `${HEAD}budget: [1]\n`, "3:9 budget: expected a mapping (found a list)"],
    ["an unknown key", `${HEAD}budjet: {}\n`, '3:1 budjet: unknown key; did you mean "budget"?'],
    ["an unknown key like no other", `${HEAD}colour: red\n`, `3:1 colour: unknown key; known keys: ${keys}`],
    [
      "an unknown key inside",
      `${HEAD}permissions:\n  mode: plan\n  alow: [Read]\n`,
      '5:3 permissions.alow: unknown key; did you mean "allow"?',
    ],
    [
      "an unknown key in a subagent",
      `${HEAD}subagents:\n  a:\n    description: x\n    instructions: y\n    tool: [Read]\n`,
      '7:5 subagents.a.tool: unknown key; did you mean "tools"?',
    ],
    ["a wrong list item", `${HEAD}tools:\n  - Read\n  - Bash(ls)\n`, `5:5 tools.1: ${tool} (found "Bash(ls)")`],
    ["an empty list item", `${HEAD}tools:\n  -\n`, "4:4 tools.0: expected text (found nothing)"],
    ["a key given twice", `${HEAD}model: haiku\n`, "3:1 model: duplicate key"],
    ["a key given twice inside", `${HEAD}budget: { usd: 1, usd: 2 }\n`, "3:19 budget.usd: duplicate key"],
    [
      "a wrong word",
      `${HEAD}permissions: { mode: readonly }\n`,
      `3:22 permissions.mode: expected one of ${MODES} (found "readonly"); did you mean "read-only"?`,
    ],
    [
      "a wrong word like no other",
      `${HEAD}permissions: { mode: careful }\n`,
      `3:22 permissions.mode: expected one of ${MODES} (found "careful")`,
    ],
    ["a missing key", "# an agent\nmodel: opus\n", "2:1 name: expected text (found nothing)"],
    [
      "a missing key inside",
      `${HEAD}subagents:\n  a:\n    description: x\n`,
      "5:5 subagents.a.instructions: expected text (found nothing)",
    ],
    ["a key without a value", "name: clerk\nmodel:\n", "2:7 model: expected text (found nothing)"],
    ["an empty text", 'name: clerk\nmodel: ""\n', '2:8 model: expected text that is not empty (found "")'],
    [
      "figures out of range",
      `${HEAD}budget: { usd: 0, turns: 0.5, tokens: .inf, steps: 1e10 }\n`,
      "3:16 budget.usd: expected a number greater than 0 (found 0)",
      "3:26 budget.turns: expected a whole number (found 0.5)",
      "3:39 budget.tokens: expected a number (found Infinity)",
      "3:52 budget.steps: expected at most 1000000000 (found 10000000000)",
    ],
    [
      "a wrong name of a subagent",
      `${HEAD}subagents:\n  A b: { description: x, instructions: y }\n`,
      '4:3 subagents."A b": expected lower-case letters, digits and dashes, starting with a letter (found "A b")',
    ],
    [
      "Windows line ends",
      "name: clerk\r\nmodel: opus\r\nbudget:\r\n  usd: ten\r\n",
      '4:8 budget.usd: expected a number (found "ten")',
    ],
    [
      "a byte order mark",
      "\uFEFFnam: clerk\nmodel: opus\n",
      "1:1 name: expected text (found nothing)",
      '1:1 nam: unknown key; did you mean "name"?',
    ],
    [
      "a long value",
      `${HEAD}budget: ${"x".repeat(99)}\n`,
      `3:9 budget: expected a mapping (found "${"x".repeat(40)}…")`,
    ],
    ["colours for the terminal", `${HEAD}"\\e[31m": 1\n`, `3:1 "\\u001b[31m": unknown key; known keys: ${keys}`],
    [
      "a mistake behind an alias",
      `${HEAD}permissions:\n  allow: &some [Read, 5]\n  deny: *some\n`,
      "4:23 permissions.allow.1: expected text (found 5)",
      "4:23 permissions.deny.1: expected text (found 5)",
    ],
    ["a tab", `${HEAD}budget:\n\tusd: 1\n`, "4:1 expected spaces as indentation (found a tab)"],
    ["a tab in a list", `${HEAD}tools:\n  - Read\n\t- Bash\n`, "5:1 expected spaces as indentation (found a tab)"],
    [
      "text with a colon",
      `${HEAD}instructions: do this: now\n`,
      '3:15 nested mappings are not allowed in compact mappings; text that contains ": " must be quoted',
    ],
    [
      "bad indentation",
      `${HEAD}budget:\n    usd: 1\n  turns: 2\n`,
      "5:1 all mapping items must start at the same column",
    ],
    ["a line without a colon", `${HEAD}tools\nbudget: {}\n`, '3:1 expected a key followed by ": "'],
    [
      "an open quote",
      `${HEAD}instructions: "Be\nbrief.\n`,
      "3:15 expected a closing quote (found the end of the file)",
    ],
    [
      "an open bracket",
      `${HEAD}tools: [Read, Bash\nbudget: {}\n`,
      "4:1 flow sequence in block collection must be sufficiently indented and end with a ]",
    ],
    ["a list as key", `? [a]\n: b\n${HEAD}`, "1:3 expected a word as key (found a list or a mapping)"],
    ["two documents", `${HEAD}---\nname: other\n`, "3:1 expected one document (found another one)"],
    ["YAML 1.1", `%YAML 1.1\n---\n${HEAD}`, "1:1 expected YAML 1.2 (found 1.1)"],
    ["a tag", `${HEAD}instructions: !secret x\n`, "3:15 unresolved tag: !secret"],
    ["binary", `${HEAD}instructions: !!binary aGk=\n`, "3:15 unresolved tag: tag:yaml.org,2002:binary"],
    ["a list", "- name: clerk\n", "1:1 expected a mapping (found a list)"],
    ["text", "clerk\n", '1:1 expected a mapping (found "clerk")'],
    ["nothing", "", "1:1 expected a mapping (found an empty file)"],
    ["nothing but a comment", "# later\n", "1:1 expected a mapping (found an empty file)"],
    ["an alias to nothing", `${HEAD}tools: *some\n`, "3:8 tools: no anchor &some before this alias"],
    [
      "an alias inside its anchor",
      `${HEAD}output_schema: &all\n  x: *all\n`,
      "4:6 output_schema.x: the alias *all contains itself",
    ],
    ["the key __proto__", `${HEAD}output_schema: { __proto__: {} }\n`, "3:18 output_schema.__proto__: unknown key"],
    ["deep nesting", `${HEAD}output_schema: { a: ${"[".repeat(99)}${"]".repeat(99)} }\n`, "3:84 nested too deeply"],
  ])("with %s is refused, naming line, column and field", (_what, text, ...problems) => {
    const lines = problems.map((problem) => `agent.yaml:${problem}`);
    expect(() => parse(text)).toThrow(
      expect.objectContaining({
        code: "invalid_agent",
        message: lines.join("\n"),
        data: { file: "agent.yaml", problems: lines },
      }),
    );
  });

  const bombs: [what: string, text: string, problem: string][] = [
    [
      "aliases of aliases",
      `a: &a [1, 1, 1, 1]\nb: &b [${"*a, ".repeat(20)}]\nc: &c [${"*b, ".repeat(20)}]\nd: [${"*c, ".repeat(20)}]\n`,
      "agent.yaml:2:8 b.0: the aliases expand to too many values",
    ],
    ["many aliases", `a: &a 1\nb: [${"*a,".repeat(500)}]\n`, "agent.yaml:2:305 b.100: expected at most 100 aliases"],
    ["twenty thousand brackets", `a: ${"[".repeat(20_000)}`, "nested too deeply"],
  ];
  test.each(bombs)("made of %s is refused", (_what, text, problem) => {
    expect(() => parse(text)).toThrow(problem);
  });

  test("with ten thousand wrong keys is refused, telling twenty of them", () => {
    const text = Array.from({ length: 10_000 }, (_, index) => `wrong${index}: 1\n`).join("");
    expect(() => parse(HEAD + text)).toThrow(/^(?:agent\.yaml:\d+:1 wrong\d+: .*\n){20}and 9980 more$/);
  });

  test("may be empty where its reader says what that means", () => {
    const options = { file: "x.yaml", code: "invalid_input", schema: agentDefinition } as const;
    expect(parseYaml("# nothing\n", { ...options, empty: { name: "clerk", model: "opus" } })).toMatchObject({
      name: "clerk",
    });
  });
});
