import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readCommands } from "../../src/core/shell/read-commands.ts";
import { Box } from "../core/shell/box.ts";
import { ATTEMPTS, ORDINARY } from "../core/shell/commands.ts";
import { isListed } from "../core/shell/is-listed.ts";
import { mixedLine } from "../core/shell/mixed-line.ts";
import { mayHide } from "../core/shell/may-hide.ts";

/**
 * Every line of the table, and some hundred random ones, really run by bash where every program is a recorder. A program
 * that ran and is not in the reading is a hole, unless the reading is unclear.
 */
const AT_ONCE = 4;

interface Hole {
  readonly line: string;
  readonly ran: readonly string[];
}

async function holesIn(lines: readonly string[]): Promise<{ readonly holes: Hole[]; readonly ran: number }> {
  const readings = lines.map((line) => readCommands(line));
  const names = readings.flatMap(({ commands }) => commands.map(({ words }) => words[0]?.text ?? ""));
  using box = new Box(names.map((name) => name.slice(name.lastIndexOf("/") + 1)));
  const holes: Hole[] = [];
  let ran = 0;
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < lines.length; index = next++) {
      const [line, reading] = [lines[index], readings[index]];
      // No argument of a process can hold a NUL; such a line is unclear anyway.
      if (line === undefined || reading === undefined || line.includes("\0")) continue;
      // Where a failure leads elsewhere, the programs also fail once.
      for (const status of /\|\||else|elif|until|!/.test(line) ? ([0, 1] as const) : ([0] as const)) {
        const programs = await box.run(String(index), line, status);
        ran += programs.length;
        if (mayHide(reading)) continue;
        for (const program of programs) if (!isListed(reading, program)) holes.push({ line, ran: program });
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { holes, ran };
}

test("no program that bash runs for a line of the table is missing from its reading", async () => {
  const lines = [...ORDINARY, ...ATTEMPTS].map(([line]) => line);
  const { holes, ran } = await holesIn(lines);
  expect(holes).toEqual([]);
  // The box works: most lines run something.
  expect(ran).toBeGreaterThan(lines.length);
});

test("no program that bash runs for a random line is missing from its reading", async () => {
  const lines = fc.sample(mixedLine, { numRuns: 250, seed: 4 });
  const { holes } = await holesIn(lines);
  expect(holes).toEqual([]);
});
