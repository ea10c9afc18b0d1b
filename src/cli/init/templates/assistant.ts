import { schemaLine, type Template } from "../template.ts";

export const assistant: Template = {
  title: "an assistant that works with the files here",
  firstMessage: "list the files",
  files: (agent) => ({
    "agent.yaml": `${schemaLine(agent)}name: ${agent.name}
description: Helps with the files in the working directory.
instructions: { file: instructions.md }

# What it has. Everything it does with these is decided by the permissions below.
tools: [Read, Glob, Grep, Write, Edit, Bash]

permissions:
  mode: normal # reads without asking, and asks before it changes anything
  allow: ["Bash(git status)", "Bash(git diff *)"]

budget: { usd: 2, steps: 50 }

# /tidy in a chat
commands:
  tidy: { description: Tidies up one file., prompt: "Tidy up {{args}}, and change nothing of what it does." }
`,
    "instructions.md": `You help with the files in the working directory.

- Look before you change anything.
- Keep changes small.
- Say briefly what you did.
`,
  }),
};
