import { expect, test } from "vitest";
import { joinedByLastEventId, joinedByListing, talkative } from "../support/stream-cuts.ts";
import { v1App } from "../support/v1-app.ts";
import { listEvents, place } from "../support/v1-session.ts";

const CUTS = Number(process.env["CAPSTAN_SOAK_ROUNDS"] ?? 500);
const SEED = Number(process.env["CAPSTAN_SOAK_SEED"] ?? 1);
/** Of one session: its log grows with every turn, and is read again after each cut. */
const CUTS_EACH = 25;

test.each(Array.from({ length: Math.ceil(CUTS / CUTS_EACH) }, (_, index) => SEED + index))(
  "cuts of seed %i",
  async (seed) => {
    await using app = await v1App({ script: talkative });
    const client = await app.client("admin");
    const { id: session } = await client.beta.sessions.create(await place(client));
    const given = { client, url: app.url, key: client.apiKey ?? "", session, cuts: CUTS_EACH, seed };
    const joined = seed % 2 === 0 ? await joinedByLastEventId(given) : await joinedByListing(given);
    expect(joined.events).toEqual(await listEvents(client, session));
    if (seed % 2 === 0) expect(joined.repeats).toBe(0);
  },
);
