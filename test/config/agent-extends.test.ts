import { describe, expect, test } from "vitest";
import { type AgentAsWritten, readAgent } from "../../src/config/agent/agent-file.ts";
import { type Files, files } from "./files.ts";

function readWritten(tree: Files): AgentAsWritten {
  return readAgent(tree.at("agent.yaml"), {}).written;
}

/** So many files, each but the last extending the next. */
function chain(length: number): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length }, (_, index) => [
      index === 0 ? "agent.yaml" : `${index}.yaml`,
      index === length - 1 ? "name: a\n" : `extends: ${index + 1}.yaml\n`,
    ]),
  );
}

describe("an agent file that extends another", () => {
  test("joins named things by name, lets permission lists grow, and replaces all else", () => {
    using tree = files({
      "agent.yaml": `extends: base/agent.yaml
name: upper
tools: { Bash: false, Grep: true }
instructions: Upper.
permissions: { allow: [Grep], deny: [WebFetch] }
budget: { usd: 2 }
subagents: { b: { description: upper, instructions: upper } }
mcp_servers: { two: { command: upper } }
commands: { two: { prompt: upper } }
hooks: { on_turn_end: [{ command: upper }] }
skills: []
environment:
  workspace: { kind: clone }
  sandbox: { deny_read: [b], allow_read: [d], network: { allow: [x.example] } }
  variables: { B: upper }
`,
      "base/agent.yaml": `name: lower
description: Lower.
instructions: { file: base.md, mode: append }
model: opus
tools: [Read, Bash]
permissions: { mode: plan, allow: [Read], ask: [Bash] }
budget: { usd: 1, steps: 5 }
subagents:
  a: { description: lower, instructions: lower }
  b: { description: lower, instructions: lower, tools: [Read] }
mcp_servers: { one: { command: ./one }, two: { command: lower, args: [lower] } }
commands: { one: { prompt: lower }, two: { prompt: lower, description: lower } }
hooks: { on_turn_end: [{ command: lower }], before_tool: [{ command: lower }] }
skills: [pdf]
environment:
  workspace: { kind: worktree, branch: lower }
  checkpoints: { mode: required }
  sandbox: { mode: required, deny_read: [a], allow_read: [c] }
  variables: { A: lower, B: lower }
`,
      "base/base.md": "Lower.",
      "base/pdf/SKILL.md": "---\nname: pdf\ndescription: Reads PDF files.\n---\n",
    });
    expect(readWritten(tree)).toEqual({
      name: "upper",
      description: "Lower.",
      instructions: "Upper.",
      model: "opus",
      tools: ["Read", "Grep"],
      permissions: { mode: "plan", allow: ["Read", "Grep"], ask: ["Bash"], deny: ["WebFetch"] },
      budget: { usd: 2, steps: 5 },
      subagents: {
        a: { description: "lower", instructions: "lower" },
        b: { description: "upper", instructions: "upper" },
      },
      mcp_servers: {
        one: { command: tree.at("base/one"), args: [], env: {} },
        two: { command: "upper", args: [], env: {} },
      },
      commands: { one: { prompt: "lower" }, two: { prompt: "upper" } },
      hooks: { on_turn_end: [{ command: "upper" }], before_tool: [{ command: "lower" }] },
      skills: {},
      environment: {
        workspace: { kind: "clone" },
        checkpoints: { mode: "required" },
        sandbox: { mode: "required", deny_read: ["a", "b"], allow_read: ["d"], network: { allow: ["x.example"] } },
        variables: { A: "lower", B: "upper" },
      },
    });
  });

  test("has the name, the instructions and the tools of the other when it says nothing about them", () => {
    using tree = files({
      "agent.yaml": "extends: b.yaml\n",
      "b.yaml": "extends: c.yaml\ntools: { Bash: true }\n",
      "c.yaml": "name: low\ninstructions: { file: c.md, mode: append }\ntools: { Read: true }\n",
      "c.md": "Low.",
    });
    expect(readWritten(tree)).toEqual({
      name: "low",
      instructions: "Low.",
      instructions_mode: "append",
      tools: ["Read", "Bash"],
    });
    expect(readAgent(tree.at("agent.yaml"), {})).toMatchObject({
      files: ["agent.yaml", "b.yaml", "c.yaml"].map((file) => tree.at(file)),
      instructionsFile: tree.at("c.md"),
    });
  });

  test("lets go of inputs that only the instructions it replaces asked for", () => {
    const base = "inputs: { a: { type: string }, b: { type: string } }\ninstructions: '{{a}} {{b}}'\n";
    using tree = files({
      "agent.yaml": "extends: b.yaml\nname: a\ninstructions: '{{b}} {{c}}'\ninputs: { c: { type: number } }\n",
      "b.yaml": base,
    });
    expect(readWritten(tree).inputs).toEqual({ b: { type: "string" }, c: { type: "number" } });
  });

  test("reaches down eight files, and no further", () => {
    using fits = files(chain(9));
    expect(readWritten(fits)).toEqual({ name: "a" });
    using tooMany = files(chain(10));
    expect(() => readWritten(tooMany)).toThrow(
      /8\.yaml:1:10 extends: expected at most 8 files that extend each other \(found more\)$/,
    );
  });

  test.each<readonly [what: string, tree: Record<string, string>, problems: readonly string[]]>([
    [
      "itself",
      { "agent.yaml": "name: a\nextends: ./agent.yaml\n" },
      ["@agent.yaml:2:10 extends: the files extend each other in a circle: @agent.yaml → @agent.yaml"],
    ],
    [
      "one that extends it",
      { "agent.yaml": "extends: b/b.yaml\n", "b/b.yaml": "extends: ../agent.yaml\n" },
      [
        "@agent.yaml:1:10 extends: @b/b.yaml:1:10 extends: the files extend each other in a circle: @agent.yaml → @b/b.yaml → @agent.yaml",
      ],
    ],
    [
      "one that is not there",
      { "agent.yaml": "extends: b.yaml\n" },
      ["@agent.yaml:1:10 extends: Cannot read the base @b.yaml: no such file or directory."],
    ],
    [
      "one that extends one that is not there",
      { "agent.yaml": "extends: b.yaml\n", "b.yaml": "extends: c.yaml\n" },
      ["@agent.yaml:1:10 extends: @b.yaml:1:10 extends: Cannot read the base @c.yaml: no such file or directory."],
    ],
    [
      "one with mistakes",
      { "agent.yaml": "extends: b.yaml\nname: a\n", "b.yaml": "budjet: 1\nmodel: ${NONE}\n" },
      [
        '@agent.yaml:1:10 extends: @b.yaml:1:1 budjet: unknown key; did you mean "budget"?',
        "@agent.yaml:1:10 extends: @b.yaml:2:8 model: the variable NONE is not set; set it in the shell or in .env, or write ${NONE:-words}",
      ],
    ],
    [
      "one that is no YAML",
      { "agent.yaml": "extends: b.yaml\n", "b.yaml": "a:\n\tb: 1\n" },
      ["@agent.yaml:1:10 extends: @b.yaml:2:1 expected spaces as indentation (found a tab)"],
    ],
    [
      "one that names a file that is not there",
      { "agent.yaml": "extends: b.yaml\nname: a\n", "b.yaml": "skills: [none]\n" },
      [
        "@agent.yaml:1:10 extends: @b.yaml:1:10 skills.0: @none expected a directory with a file SKILL.md (found nothing)",
      ],
    ],
    [
      "one that does not fit",
      {
        "agent.yaml": "extends: b.yaml\ntools: { Bsh: true }\n",
        "b.yaml": "tools: [Raed]\npermissions: { deny: [Bsh] }\ninputs: { a: { type: string } }\ninstructions: x\n",
      },
      [
        "@agent.yaml:1:1 name: expected text (found nothing)",
        '@agent.yaml:2:10 tools.Bsh: unknown tool "Bsh". Did you mean Bash?',
        '@agent.yaml:1:10 extends: @b.yaml:1:9 tools.0: unknown tool "Raed". Did you mean Read?',
        '@agent.yaml:1:10 extends: @b.yaml:2:23 permissions.deny.0: unknown tool "Bsh" in the rule "Bsh". Did you mean Bash?',
        "@agent.yaml:1:10 extends: @b.yaml:3:11 inputs.a: nothing uses this input; write {{a}} in the instructions, or remove it",
      ],
    ],
  ])("cannot extend %s", (_what, content, problems) => {
    using tree = files(content);
    const lines = problems.map((problem) => problem.replaceAll("@", `${tree.path}/`));
    expect(() => readWritten(tree)).toThrow(
      expect.objectContaining({
        code: "invalid_agent",
        message: lines.join("\n"),
        data: { file: expect.any(String) as string, problems: lines },
      }),
    );
  });
});
