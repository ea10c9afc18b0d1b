import { agent, testHost } from "../test/support/host.ts";
import { BareSession } from "./bare.ts";
import { inTurn, interleave } from "./interleave.ts";
import { type BenchCase, ratioRow } from "./row.ts";
import { answer, capstanTurn, directTurn, ends, firstTexts } from "./turns.ts";

const name = "later-turn";
/**
 * Two identical processes differ by a few percent for their whole life; several of each even that out. Their
 * number shares no factor with the number of arms below, so each pair comes first, second and last equally often.
 */
const PROCESSES = 4;

/** What Capstan adds to a turn of a running process. */
export const laterTurn: BenchCase = {
  name,
  async run() {
    await using stack = new AsyncDisposableStack();
    const { host, model, cwd, environment } = stack.use(await testHost(answer));
    const path = environment["PATH"] ?? "";
    const pairs = await Promise.all(
      Array.from({ length: PROCESSES }, async () => ({
        session: stack.use(await host.startSession({ agent: agent(), cwd })),
        bare: stack.use(new BareSession({ agent: agent(), cwd, url: model.url, path })),
      })),
    );
    const { capstan, bare, direct } = await interleave(
      { rounds: 200, warmUp: 5 * PROCESSES },
      {
        capstan: (round) => capstanTurn(inTurn(pairs, round).session, `Message ${round}`),
        bare: (round) => inTurn(pairs, round).bare.liveTurn(`Message ${round}`),
        // The last request an agent sent, so that the direct request carries the same conversation.
        direct: () => directTurn({ url: model.url, token: "bench", body: JSON.stringify(model.requests.at(-1)?.body) }),
      },
    );
    return [
      ratioRow(
        {
          name,
          what: "first text, Capstan live session : bare live query()",
          measured: firstTexts(capstan),
          against: firstTexts(bare),
        },
        1.2,
      ),
      ratioRow({ name, what: "end of the same turns", measured: ends(capstan), against: ends(bare) }),
      ratioRow({
        name,
        what: "first text, Capstan live session : direct request to the API",
        measured: firstTexts(capstan),
        against: firstTexts(direct),
      }),
    ];
  },
};
