import { writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { agent } from "../../test/support/host.ts";
import { interleave } from "../interleave.ts";
import { type BenchCase, ratioRow } from "../row.ts";
import { capstanTurn, ends } from "../turns.ts";
import { BareChat, type BareTool, benchHost } from "./model.ts";

const name = "direct-calls";

/** The definition is the agent's own; the work is the same: the file is read from the disk each time. */
const READ: BareTool = {
  definition: {
    name: "Read",
    description: "Reads a file.",
    input_schema: { type: "object", properties: { file_path: { type: "string" } }, required: ["file_path"] },
  },
  run: ({ file_path: path }) => readFile(String(path), "utf8"),
};

/** What the log and the gate add to a turn with ten calls, compared with the same loop written by hand. */
export const directCalls: BenchCase = {
  name,
  async run() {
    await using stack = new AsyncDisposableStack();
    const { host, url, cwd } = stack.use(await benchHost());
    const file = join(cwd, "notes.txt");
    writeFileSync(file, "A note.\n");
    const message = `Read ${file} ten times.`;
    const worker = agent({ engine: "direct", tools: ["Read"] });
    const { direct, bare } = await interleave(
      { rounds: 60, warmUp: 5 },
      {
        async direct() {
          await using session = await host.startSession({ agent: worker, cwd });
          return await capstanTurn(session, message);
        },
        bare: () => new BareChat(url).loop(message, READ),
      },
    );
    const what = "end of a turn with 10 calls : the same loop by hand, without log and gate";
    return [ratioRow({ name, what, measured: ends(direct), against: ends(bare) }, 1.5)];
  },
};
