import { agent, testHost } from "../test/support/host.ts";
import { BareSession } from "./bare.ts";
import { interleave } from "./interleave.ts";
import { type BenchCase, ratioRow } from "./row.ts";
import { answer, capstanTurn, directTurn, ends, firstTexts } from "./turns.ts";

const name = "later-turn";

/** What Capstan adds to a turn of a process that is already there. */
export const laterTurn: BenchCase = {
  name,
  async run() {
    await using fixture = await testHost(answer);
    const { host, model, cwd, environment } = fixture;
    await using session = await host.startSession({ agent: agent(), cwd });
    const path = environment["PATH"] ?? "";
    await using bare = new BareSession({ agent: agent(), cwd, url: model.url, path });
    const { capstan, live, direct } = await interleave(
      { rounds: 80, warmUp: 6 },
      {
        capstan: (round) => capstanTurn(session, `Message ${round}`),
        live: (round) => bare.liveTurn(`Message ${round}`),
        // What an agent sent last, so that the direct request carries the same conversation.
        direct: () => directTurn({ url: model.url, token: "bench", body: JSON.stringify(model.requests.at(-1)?.body) }),
      },
    );
    return [
      ratioRow(
        {
          name,
          what: "first text, Capstan live session : bare live query()",
          measured: firstTexts(capstan),
          against: firstTexts(live),
        },
        1.2,
      ),
      ratioRow({ name, what: "end of the same turns", measured: ends(capstan), against: ends(live) }),
      ratioRow({
        name,
        what: "first text, Capstan live session : direct request to the API",
        measured: firstTexts(capstan),
        against: firstTexts(direct),
      }),
    ];
  },
};
