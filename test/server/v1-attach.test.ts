import { expect, test } from "vitest";
import { engineOpenings } from "../support/engine-openings.ts";
import { agent } from "../support/host.ts";
import { until } from "../support/until.ts";
import { refusal } from "../support/v1-app.ts";
import { startV1Server } from "../support/v1-server.ts";
import { message, ofType, turn, untilIdle } from "../support/v1-session.ts";

/** What it means to open a stream: where it begins, and what it does to the session. */

const { app, client, newSession } = await startV1Server();

const isIdle = ({ status }: { readonly status: string }): boolean => status === "idle";

test("a caller's stream includes what they sent, and not what others sent", async () => {
  const id = await newSession();
  await client.beta.sessions.events.send(id, { events: [message("mine")] });
  await until(() => client.beta.sessions.retrieve(id), isIdle);
  const viewing = await (await app.client("viewer")).beta.sessions.events.stream(id);
  const own = await untilIdle(await client.beta.sessions.events.stream(id));
  expect(ofType(own, "user.message")).toMatchObject([{ content: [{ text: "mine" }] }]);
  await client.beta.sessions.events.send(id, { events: [message("more")] });
  expect(ofType(await untilIdle(viewing), "user.message")).toMatchObject([{ content: [{ text: "more" }] }]);
});

test("a stream cannot start past the end of the log", async () => {
  const id = await newSession();
  const head = await app.host.head(id);
  const stream = (after: number) =>
    client.beta.sessions.events.stream(id, {}, { headers: { "Last-Event-ID": String(after) } });
  (await stream(head)).controller.abort();
  const error = await refusal(stream(head + 1));
  expect(error.status).toBe(400);
  expect(error.apiMessage).toContain(`the log of this session ends at ${head}`);
});

test("attaching wakes a hibernated session", async () => {
  await using openings = await engineOpenings();
  const session = await app.host.startSession({ agent: agent({ mcp_servers: openings.servers }), cwd: app.cwd });
  await turn(client, session.id, [message("hello")]);
  await session.hibernate();
  const before = openings.count();
  const stream = await client.beta.sessions.events.stream(session.id);
  await expect.poll(openings.count).toBe(before + 1);
  stream.controller.abort();
});
