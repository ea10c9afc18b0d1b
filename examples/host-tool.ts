// Lets the agent call a function of this program. It runs here, not in the agent's process.
// prints: stock said:
// prints: 12 pears in shop-7
// prints: tested alone: 0 plums in shop-7
// prints: wrong input: Tool stock was not run
import { mkdtempDisposableSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  defineTool,
  openHost,
  type Tool,
  type ToolContext,
  type ToolDefinition,
  type ToolOutcome,
  type ToolReply,
} from "capstan";
import { z } from "zod";

using home = mkdtempDisposableSync(join(tmpdir(), "capstan-example-home-"));
using scratch = mkdtempDisposableSync(join(tmpdir(), "capstan-example-"));
await using host = await openHost({ rehearsal: true, home: home.path });

const input = z.object({ fruit: z.string() });
const counts = new Map([["pears", 12]]);
interface Stock {
  fruit: string;
  count: number;
  shop: string;
}
const definition: ToolDefinition<typeof input, Stock> = {
  name: "stock",
  description: "How much of a fruit is in stock.",
  input,
  annotations: { readOnly: true },
  handler: ({ fruit }, context: ToolContext): ToolReply<Stock> => ({
    data: { fruit, count: counts.get(fruit) ?? 0, shop: context.variables["SHOP"] ?? "?" },
  }),
  render: ({ fruit, count, shop }) => `${count} ${fruit} in ${shop}`,
};
const stock: Tool = defineTool(definition);

const session = await host.startSession({
  agent: { name: "grocer", model: "claude-opus-4-8" },
  cwd: scratch.path,
  tools: [stock],
  variables: { SHOP: "shop-7" },
});
const { text } = await session.send('use stock with {"fruit":"pears"}').result();
console.log(text);

// You can test a tool without an agent. It never throws: failures are outcomes.
const context: ToolContext = {
  sessionId: "sesn_test",
  callId: "call_test",
  cwd: scratch.path,
  tempDir: scratch.path,
  variables: { SHOP: "shop-7" },
  deadline: undefined,
  budgetLeft: {},
  signal: new AbortController().signal,
};
console.log("tested alone:", textOf(await stock.run({ fruit: "plums" }, context)));
console.log("wrong input:", textOf(await stock.run({ fruit: 7 }, context)));

function textOf({ content }: ToolOutcome): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}
