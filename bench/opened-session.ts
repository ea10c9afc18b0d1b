import { setTimeout as sleep } from "node:timers/promises";
import { agent, testHost } from "../test/support/host.ts";
import { BareSession } from "./bare.ts";
import { interleave } from "./interleave.ts";
import { type BenchCase, ratioRow } from "./row.ts";
import { answer, capstanTurn, firstTexts } from "./turns.ts";

const name = "opened-session";

/** The time that a process started with the session saves its first message. */
export const openedSession: BenchCase = {
  name,
  async run() {
    await using fixture = await testHost(answer);
    const { host, model, cwd, environment } = fixture;
    const path = environment["PATH"] ?? "";
    const { capstan, cold } = await interleave(
      { rounds: 25, warmUp: 2 },
      {
        async capstan() {
          await using session = await host.startSession({ agent: agent(), cwd });
          await sleep(1_000);
          return await capstanTurn(session, "Hello");
        },
        async cold() {
          await using bare = new BareSession({ agent: agent(), cwd, url: model.url, path });
          return await bare.oneTurn("Hello", { resume: false });
        },
      },
    );
    const measured = firstTexts(capstan);
    return [
      ratioRow(
        {
          name,
          what: "first text, session opened 1 s before : cold bare query()",
          measured,
          against: firstTexts(cold),
        },
        0.35,
      ),
    ];
  },
};
