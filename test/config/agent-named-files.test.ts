import { symlinkSync, truncateSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { readAgent } from "../../src/config/agent/agent-file.ts";
import { files } from "./files.ts";

const ONLY = "not supported for a subagent; only description, instructions, tools, model of its file are used";

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
        "2:23 instructions.file: Cannot read the instructions in @a.md: no such file or directory.",
        "3:13 functions.0: Cannot read the module @b.mjs: no such file or directory.",
        "3:30 functions.1.module: Cannot read the module @c.mjs: no such file or directory.",
        "4:16 output_schema: Cannot read the JSON Schema in @d.json: no such file or directory.",
        "5:17 subagents.e: Cannot read the subagent @e.yaml: no such file or directory.",
        "6:24 commands.f.file: Cannot read the prompt in @f.md: no such file or directory.",
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
      ["2:23 instructions.file: @a.md:2:4 unknown input {{town}}; declare town under inputs"],
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
        "2:17 subagents.b: @b.yaml:5:26 instructions.mode: not supported for a subagent",
      ],
    ],
    [
      "is a subagent without instructions, with a tool that there is not",
      "subagents: { b: b.yaml, c: c.yaml }",
      { "b.yaml": "description: x\n", "c.yaml": "description: x\ninstructions: { file: none.md }\n" },
      [
        "2:17 subagents.b: @b.yaml:1:1 instructions: expected text (found nothing)",
        "2:28 subagents.c: @c.yaml:2:23 instructions.file: Cannot read the instructions in @none.md: no such file or directory.",
      ],
    ],
    [
      "is a subagent with a tool that there is not",
      "subagents: { b: b.yaml }",
      { "b.yaml": "description: x\ninstructions: y\ntools: [Raed]\n" },
      ['2:17 subagents.b: unknown tool "Raed". Did you mean Read?'],
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
      ["2:10 skills.0: @a/SKILL.md:1:1 expected --- followed by name and description, and another ---"],
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
      ["2:13 skills.1: another skill of this agent is also named pdf"],
    ],
    [
      "is a skill that is too large",
      "skills: [a]",
      { "a/SKILL.md": SKILL, "a/x": "x".repeat(700_000), "a/y": "x".repeat(700_000) },
      ["2:10 skills.0: @a its files have more than 1048576 bytes; @a/y exceeds the limit"],
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
          `${path}:2:10 skills.0: ${tree.at("a/passwd")} expected a regular file (found a symbolic link); put the file itself there`,
          `${path}:2:13 skills.1: ${tree.at("b/big")} cannot be read: it has 10000000000 bytes, but all skills together may have at most 1048576`,
          `${path}:2:16 skills.2: ${tree.at("c")} expected a directory with a file SKILL.md (found a symbolic link)`,
        ].join("\n"),
      }),
    );
  });
});
