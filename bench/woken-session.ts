import { setTimeout as sleep } from "node:timers/promises";
import { agent, testHost } from "../test/support/host.ts";
import { BareSession } from "./bare.ts";
import { interleave } from "./interleave.ts";
import { type BenchCase, ratioRow } from "./row.ts";
import { answer, capstanTurn, firstTexts } from "./turns.ts";

const name = "woken-session";

/** Hibernating and waking, compared with a program that starts a new process for each turn. */
export const wokenSession: BenchCase = {
  name,
  async run() {
    await using fixture = await testHost(answer);
    const { host, model, cwd, environment } = fixture;
    await using sleeper = await host.startSession({ agent: agent(), cwd });
    await using awake = await host.startSession({ agent: agent(), cwd });
    const path = environment["PATH"] ?? "";
    await using bare = new BareSession({ agent: agent(), cwd, url: model.url, path });
    await capstanTurn(sleeper, "Hello");
    await capstanTurn(awake, "Hello");
    await bare.oneTurn("Hello", { resume: false });
    const { woken, resumed, live } = await interleave(
      { rounds: 25, warmUp: 2 },
      {
        async woken(round) {
          await sleeper.hibernate();
          sleeper.warm();
          await sleep(1_000);
          return capstanTurn(sleeper, `Message ${round}`);
        },
        resumed: (round) => bare.oneTurn(`Message ${round}`, { resume: true }),
        live: (round) => capstanTurn(awake, `Message ${round}`),
      },
    );
    const against = firstTexts(resumed);
    return [
      ratioRow(
        {
          name,
          what: "first text, hibernated session attached 1 s before : bare query() with resume",
          measured: firstTexts(woken),
          against,
        },
        0.35,
      ),
      ratioRow({
        name,
        what: "first text, new process per turn with resume : Capstan live session",
        measured: against,
        against: firstTexts(live),
      }),
    ];
  },
};
