import { schemaLine, suiteHead, type Template } from "../template.ts";

export const assistant: Template = {
  title: "an assistant for the files in the working directory",
  firstMessage: "list the files",
  files: (agent) => ({
    "agent.yaml": `${schemaLine(agent)}name: ${agent.name}
description: Helps with the files in the working directory.
instructions: { file: instructions.md }

# The tools it has. The permissions below decide what it may do with them.
tools: [Read, Glob, Grep, Write, Edit, Bash]

permissions:
  mode: normal # reads without asking, asks before it changes anything
  allow: ["Bash(git status)", "Bash(git diff *)"]

budget: { usd: 2, steps: 50 }

# /tidy in a chat
commands:
  tidy: { description: Tidies up one file., prompt: "Tidy up {{args}} without changing what it does." }
`,
    "instructions.md": `You help with the files in the working directory.

- Look before you change anything.
- Keep changes small.
- Say briefly what you did.
`,
    "agent.test.yaml": `${suiteHead(agent)}
cases:
  - name: looks at files
    files: { notes.txt: "Buy milk.\\n" }
    input: read notes.txt
    graders:
      - contains: Buy milk.
      - tools_called: [Read]
      - only_changed: []

  - name: asks before it writes
    input: write note.txt with hello
    answers:
      - { tool: Write, with: { file_path: '/note\\.txt$/' }, decision: allow }
    graders:
      - files: { content: { note.txt: hello } }
      - only_changed: [note.txt]
      - decisions: [{ tool: Write, decision: ask, count: 1 }]
`,
  }),
};
