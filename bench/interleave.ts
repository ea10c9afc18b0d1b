import { setTimeout as sleep } from "node:timers/promises";

/** Long enough for a process to finish its work after a turn; otherwise the next sample would pay for it. */
const SETTLE_MS = 40;

/**
 * Takes one sample of every arm in each round, so that other load on the machine affects all of them equally. The order
 * rotates from round to round, so none always comes first. Warm-up rounds are not counted.
 */
export async function interleave<Name extends string, Sample>(
  { rounds, warmUp }: { readonly rounds: number; readonly warmUp: number },
  arms: Readonly<Record<Name, (round: number) => Promise<Sample>>>,
): Promise<Readonly<Record<Name, Sample[]>>> {
  const names = Object.keys(arms) as Name[];
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Sample[]>;
  for (let round = -warmUp; round < rounds; round += 1) {
    const first = (round + warmUp) % names.length;
    for (const name of [...names.slice(first), ...names.slice(0, first)]) {
      await sleep(SETTLE_MS);
      const sample = await arms[name](round);
      if (round >= 0) samples[name].push(sample);
    }
  }
  return samples;
}

/** Picks the next one in each round. */
export function inTurn<T>(list: readonly T[], round: number): T {
  const item = list.at(round % list.length);
  if (item === undefined) throw new Error("There is nothing to choose from.");
  return item;
}
