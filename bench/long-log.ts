import { agent, testHost } from "../test/support/host.ts";
import { interleave } from "./interleave.ts";
import { openStoreIn, pastSession } from "./past-turns.ts";
import { type BenchCase, ratioRow } from "./row.ts";
import { answer, capstanTurn, ends, firstTexts } from "./turns.ts";

const name = "long-log";
const LONG = 20_000;
const SHORT = 100;

/** The cost of a turn must not grow with the log. */
export const longLog: BenchCase = {
  name,
  async run() {
    await using fixture = await testHost(answer);
    const { host, home, cwd } = fixture;
    const [longId, shortId] = await storePast(home, cwd);
    await using long = await host.resumeSession(longId);
    await using short = await host.resumeSession(shortId);
    const times = await interleave(
      { rounds: 80, warmUp: 6 },
      {
        long: (round) => capstanTurn(long, `Message ${round}`),
        short: (round) => capstanTurn(short, `Message ${round}`),
      },
    );
    const sizes = `${LONG.toLocaleString("en")} events : ${SHORT} (both compacted 3 turns ago)`;
    return [
      ratioRow(
        {
          name,
          what: `end of a turn after ${sizes}`,
          measured: ends(times.long),
          against: ends(times.short),
        },
        1.2,
      ),
      ratioRow({
        name,
        what: "first text of the same turns",
        measured: firstTexts(times.long),
        against: firstTexts(times.short),
      }),
    ];
  },
};

async function storePast(home: string, cwd: string): Promise<readonly [long: string, short: string]> {
  await using store = await openStoreIn(home);
  const past = (length: number): Promise<string> => pastSession(store, { length, agent: agent(), cwd });
  return [await past(LONG), await past(SHORT)];
}
