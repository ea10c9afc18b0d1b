import { expect, test } from "vitest";
import { joinedByLastEventId, joinedByListing, talkative } from "../support/stream-cuts.ts";
import { v1App } from "../support/v1-app.ts";
import { listEvents, place } from "../support/v1-session.ts";

/** Cuts in all; `npm run soak` has 500. */
const CUTS = 20;

test("a stream that is cut off anywhere and resumed returns exactly the log", async () => {
  await using app = await v1App({ script: talkative });
  const client = await app.client("admin");
  const given = { client, url: app.url, key: client.apiKey ?? "", cuts: CUTS / 2, seed: 1 };
  const where = await place(client);

  const { id: one } = await client.beta.sessions.create(where);
  const byId = await joinedByLastEventId({ ...given, session: one });
  expect(byId.events).toEqual(await listEvents(client, one));
  expect(byId.repeats).toBe(0);
  expect(byId.previews).toBeGreaterThan(0);

  const { id: other } = await client.beta.sessions.create(where);
  const byListing = await joinedByListing({ ...given, session: other });
  expect(byListing.events).toEqual(await listEvents(client, other));
  expect(byListing.previews).toBeGreaterThan(0);
});
