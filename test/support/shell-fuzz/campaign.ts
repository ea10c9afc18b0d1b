import { readCommands, type ShellReading } from "../../../src/core/shell/read-commands.ts";
import { bash, decideCall } from "../../core/permission/subjects.ts";
import { isListed } from "../../core/shell/is-listed.ts";
import { BatchBox, type Ran, type Task } from "./batch-box.ts";
import { generate } from "./generate.ts";

/** Rules for everything that lines consist of, builtins too, but for `evil`. */
const PROGRAMS =
  `a b ls cat echo printf test [ read export declare typeset readonly unset let mapfile wait getopts trap set shopt alias hash exec command
  builtin source . eval compgen jobs history fc enable cd break : true`.split(/\s+/);
const ALLOW = [
  ...PROGRAMS.map((name) => `Bash(${name} *)`),
  "Edit(./**)",
  "Edit(//tmp/**)",
  "Edit(~/**)",
  "Read(//**)",
];

export interface Campaign {
  readonly seed: number;
  readonly lines: number;
}

export interface Outcome {
  readonly lines: number;
  /** Lines that the rules allow, all of which were run. */
  readonly allowed: number;
  readonly programs: number;
  /** Lines of all kinds of constructs. */
  readonly constructs: ReadonlyMap<string, number>;
  /** Allowed lines that ran or wrote what is not in their reading. */
  readonly holes: readonly { readonly line: string; readonly did: string }[];
}

const BATCH = 500;

/** Generates lines, lets the rules decide, and has bash run those that they allow. */
export async function fuzz({ seed, lines }: Campaign): Promise<Outcome> {
  using box = new BatchBox();
  const constructs = new Map<string, number>();
  const holes: { line: string; did: string }[] = [];
  let [allowed, programs] = [0, 0];
  let waiting: (Task & { reading: ShellReading })[] = [];
  const run = async (): Promise<void> => {
    const ran = await box.run(waiting);
    for (const [index, { line, reading }] of waiting.entries()) {
      const one = ran[index];
      if (one === undefined) continue;
      programs += one.programs.length;
      for (const did of strayOf(one, reading)) holes.push({ line, did });
    }
    waiting = [];
  };
  for (let index = 0; index < lines; index++) {
    const { line, constructs: used } = generate(seed * 1_000_003 + index);
    for (const name of used) constructs.set(name, (constructs.get(name) ?? 0) + 1);
    if (line.includes("\0") || decideCall(bash(line), { allow: ALLOW }).behavior !== "allow") continue;
    allowed += 1;
    const reading = readCommands(line);
    waiting.push({ line, status: 0, reading });
    if (/\|\||else|until|!/.test(line)) waiting.push({ line, status: 1, reading });
    if (waiting.length >= BATCH) await run();
  }
  await run();
  return { lines, allowed, programs, constructs, holes };
}

/** What bash did beyond what was read. */
function strayOf({ programs, files }: Ran, reading: ShellReading): string[] {
  const written = reading.writes.map(({ path }) => path);
  const isNamed = (file: string): boolean =>
    written.some(({ text, dynamic }) => dynamic || text.replace(/^\.\//, "") === file);
  return [
    ...programs.filter((program) => !isListed(reading, program)).map((program) => `ran ${JSON.stringify(program)}`),
    ...files.filter((file) => !isNamed(file)).map((file) => `wrote ${file}`),
  ];
}
