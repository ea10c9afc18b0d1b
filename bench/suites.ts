import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { stringify } from "yaml";
import type { AgentInput } from "../src/index.ts";
import { temporaryDirectory } from "../test/support/host.ts";
import { call, say, scriptedModel, type Script } from "../test/support/scripted-model.ts";
import { CLI, runCommand } from "./cli.ts";
import { interleave } from "./interleave.ts";
import { type BenchCase, ratioRow } from "./row.ts";

const name = "suites";
export const CASES = 50;
export const PARALLEL = 2;
const LARGE = 500;

export const READER = {
  name: "reader",
  instructions: "You read files.",
  model: "claude-opus-4-8",
  tools: ["Read"],
} satisfies AgentInput;
export const REQUEST = "read notes.txt";
const FILE = { name: "notes.txt", text: "Buy milk.\n" } as const;

/** Writes the files of each case. */
export function fill(directory: string): void {
  writeFileSync(join(directory, FILE.name), FILE.text);
}

/** The overhead of running an agent's cases, and the cost of validating a suite. */
export const suites: BenchCase = {
  name,
  async run() {
    using directory = temporaryDirectory();
    const home = join(directory.path, "home");
    mkdirSync(home);
    const env = { PATH: process.env["PATH"] ?? "", HOME: home };
    const suite = await recordedSuite(directory.path, env);
    const large = join(directory.path, "large.test.yaml");
    writeFileSync(large, suiteText(LARGE, LARGE_CASE));
    const start = await interleave(
      { rounds: 40, warmUp: 2 },
      { node: () => runCommand(["-e", ""], env), validate: () => runCommand([CLI, "validate", large], env) },
    );
    await using model = await scriptedModel(reading);
    const replay = await interleave(
      { rounds: 3, warmUp: 0 },
      {
        capstan: () => runCommand([CLI, "test", suite, "--parallel", String(PARALLEL)], env),
        bare: (round) => bareCases(model.url, join(directory.path, `bare-${round}`), env),
      },
    );
    return [
      ratioRow(
        {
          name,
          what: `replaying ${CASES} single-tool cases, two at a time : as many bare cold query() calls`,
          measured: replay.capstan,
          against: replay.bare,
        },
        1.3,
      ),
      ratioRow(
        {
          name,
          what: `capstan validate, ${LARGE} cases : an empty Node start`,
          measured: start.validate,
          against: start.node,
        },
        5,
      ),
    ];
  },
};

const reading: Script = ({ toolResults }) =>
  toolResults.length > 0 ? say(`${FILE.name} says: ${FILE.text}`) : call("Read", { file_path: FILE.name });

/** All cases and their cassettes are the same except for their names, so only one is recorded. */
async function recordedSuite(directory: string, env: Record<string, string>): Promise<string> {
  writeFileSync(join(directory, "agent.yaml"), stringify(READER));
  const suite = join(directory, "bench.test.yaml");
  writeFileSync(suite, suiteText(CASES, CASE));
  await runCommand([CLI, "test", suite, "--record", "--rehearsal", "--filter", caseName(1)], env);
  const cassette = (number: number): string => join(directory, "cassettes/bench.test", `${caseName(number)}.json`);
  const recorded = JSON.parse(readFileSync(cassette(1), "utf8")) as object;
  for (let number = 2; number <= CASES; number += 1)
    writeFileSync(cassette(number), JSON.stringify({ ...recorded, case: caseName(number) }));
  return suite;
}

function caseName(number: number): string {
  return `case-${String(number).padStart(4, "0")}`;
}

const CASE = `    input: ${REQUEST}
    files: { ${FILE.name}: ${JSON.stringify(FILE.text)} }
    graders:
      - contains: Buy milk.
      - tool_call: { tool: Read, input: { file_path: '/notes\\.txt$/' }, count: 1 }
      - only_changed: []
`;
/** Typical of large suites: one question per case, and what the answer must contain. */
const LARGE_CASE = `    input: Which port does the server use?
    graders:
      - contains: "8080"
      - tools_called: [Read]
`;

function suiteText(count: number, one: string): string {
  const cases = Array.from({ length: count }, (_, index) => `  - name: ${caseName(index + 1)}\n${one}`);
  return `agent: agent.yaml\ncases:\n${cases.join("")}`;
}

async function bareCases(url: string, root: string, env: Record<string, string>): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [resolve("bench/bare-cases.ts"), url, root], { env });
  return Number(stdout);
}
