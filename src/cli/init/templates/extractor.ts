import { schemaLine, suiteHead, type Template } from "../template.ts";

export const extractor: Template = {
  title: "a data extractor whose answers match a JSON Schema",
  firstMessage: "read invoice.txt",
  files: (agent) => ({
    "agent.yaml": `${schemaLine(agent)}name: ${agent.name}
description: Takes the facts out of invoices, as data.
instructions: |
  You take the facts out of the document that you are given. Its language is {{language}}.
  Take only what stands there. What is missing is null.

# capstan run --agent agent.yaml --input language=German "read rechnung.txt"
inputs:
  language: { type: string, default: English, description: The language of the documents. }

tools: [Read]
permissions: { mode: read-only }
budget: { usd: 0.5, steps: 10 }

# Every answer matches this schema.
output_schema: invoice.schema.json
`,
    "invoice.schema.json": `{
  "type": "object",
  "properties": {
    "number": { "type": ["string", "null"] },
    "date": { "type": ["string", "null"], "format": "date" },
    "total": { "type": ["number", "null"], "description": "With tax" },
    "currency": { "type": ["string", "null"], "description": "Three letters, such as EUR" },
    "items": {
      "type": "array",
      "items": {
        "type": "object",
        "properties": { "text": { "type": "string" }, "amount": { "type": "number" } },
        "required": ["text", "amount"],
        "additionalProperties": false
      }
    }
  },
  "required": ["number", "date", "total", "currency", "items"],
  "additionalProperties": false
}
`,
    "invoice.txt": `Invoice 2026-0117            17 January 2026

  12 notebooks               18.00
   1 desk lamp               41.90

Total, tax included          59.90 EUR
`,
    "agent.test.yaml": `${suiteHead(agent)}
cases:
  - name: answers with data
    files: { receipt.txt: "Receipt 7: 1 pencil, 1.00 EUR\\n" }
    input: read receipt.txt
    graders:
      - output: { schema: invoice.schema.json }
      - number: { path: $.total, equals: 1 }
      - tools_called: [Read]
      - only_changed: []
`,
  }),
};
