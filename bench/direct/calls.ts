import { readFile } from "node:fs/promises";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import { agent, testHost } from "../../test/support/host.ts";
import { call, say, type Script } from "../../test/support/scripted-model.ts";
import { interleave } from "../interleave.ts";
import { type BenchCase, ratioRow } from "../row.ts";
import { capstanTurn, ends, type TurnTime, TurnWatch } from "../turns.ts";

const name = "direct-calls";
const CALLS = 10;
const TOOL: Anthropic.Tool = {
  name: "Read",
  input_schema: { type: "object", properties: { file_path: { type: "string" } } },
};

/** What the log and the gate add to a turn with ten calls, compared with the same loop written by hand. */
export const directCalls: BenchCase = {
  name,
  async run() {
    await using stack = new AsyncDisposableStack();
    const { host, model, cwd } = stack.use(await testHost(() => say("not yet")));
    const file = join(cwd, "notes.txt");
    writeFileSync(file, "A note.\n");
    model.script = tenReads(file);
    const { direct, bare } = await interleave(
      { rounds: 60, warmUp: 5 },
      {
        async direct() {
          const worker = agent({ engine: "direct", tools: ["Read"] });
          await using session = await host.startSession({ agent: worker, cwd });
          return await capstanTurn(session, "Read it ten times.");
        },
        bare: () => bareLoop(model.url),
      },
    );
    const what = `end of a turn with ${CALLS} calls : the same loop by hand, without log and gate`;
    return [ratioRow({ name, what, measured: ends(direct), against: ends(bare) }, 1.5)];
  },
};

function tenReads(file: string): Script {
  return ({ body }) => {
    const done = body.messages.filter(({ role }) => role === "assistant").length;
    return done < CALLS ? call("Read", { file_path: file }) : say("Done, just as you asked.", { pace: 1 });
  };
}

/** The loop a program without Capstan would have: request, read the file, send the result, request again. */
async function bareLoop(url: string): Promise<TurnTime> {
  const client = new Anthropic({ baseURL: url, apiKey: "bench", maxRetries: 0 });
  const messages: Anthropic.MessageParam[] = [{ role: "user", content: "Read it ten times." }];
  const watch = new TurnWatch();
  for (;;) {
    const stream = client.messages.stream({ model: "claude-opus-4-8", max_tokens: 1_000, tools: [TOOL], messages });
    stream.on("text", () => watch.text());
    const message = await stream.finalMessage();
    if (message.stop_reason !== "tool_use") return watch.end();
    messages.push({ role: "assistant", content: message.content });
    const uses = message.content.filter((block) => block.type === "tool_use");
    const results = uses.map(async ({ id, input }) => {
      const content = await readFile((input as { file_path: string }).file_path, "utf8");
      return { type: "tool_result" as const, tool_use_id: id, content };
    });
    messages.push({ role: "user", content: await Promise.all(results) });
  }
}
