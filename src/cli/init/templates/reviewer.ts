import { type NewAgent, schemaLine, suiteHead, type Template } from "../template.ts";

export const reviewer: Template = {
  title: "a read-only code reviewer with two subagents",
  firstMessage: "review agent.yaml with two subagents",
  files: (agent) => ({
    "agent.yaml": `${schemaLine(agent)}name: ${agent.name}
description: Reviews code with two subagents, and changes nothing.
instructions: { file: instructions.md }
tools: [Read, Glob, Grep, Agent]

# It cannot change anything.
permissions: { mode: read-only }
budget: { usd: 3, tool_calls: 200 }

subagents:
  correctness: reviewers/correctness.yaml
  clarity: reviewers/clarity.yaml
`,
    "instructions.md": `You review the code that you are asked about.

Give it to both of your reviewers, correctness and clarity, at the same time. Then put together what they found: the file and
the line of each finding, the worst first. Leave out what is a matter of taste.
`,
    "reviewers/correctness.yaml": reviewerFile(agent, {
      name: "correctness",
      description: "Finds what is wrong: mistakes, missing cases, broken promises.",
      looksFor: "code that does something else than it should",
    }),
    "reviewers/clarity.yaml": reviewerFile(agent, {
      name: "clarity",
      description: "Finds what is hard to understand: names, structure, comments.",
      looksFor: "code that the next reader will misunderstand",
    }),
    "agent.test.yaml": `${suiteHead(agent)}
cases:
  - name: asks both reviewers
    files: { total.js: "export const total = (items) => items.reduce((sum, item) => sum + item.price);\\n" }
    input: review total.js with two subagents
    graders:
      - subagents: [correctness, clarity]
      - tools_not_called: [Write, Edit, Bash]
      - only_changed: []
`,
  }),
};

function reviewerFile(
  { schema, ...agent }: NewAgent,
  { name, description, looksFor }: { readonly name: string; readonly description: string; readonly looksFor: string },
): string {
  const above = /^\.{0,2}\//.test(schema) && !schema.startsWith("/") ? `../${schema.replace(/^\.\//, "")}` : schema;
  return `${schemaLine({ ...agent, schema: above })}name: ${name}
description: "${description}"
instructions: |
  You look for ${looksFor}.
  Read what you are given and what it depends on. Name the file and the line of every finding, and why it matters.
tools: [Read, Glob, Grep]
`;
}
