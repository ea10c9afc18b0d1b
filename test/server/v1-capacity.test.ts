import { RateLimitError } from "@anthropic-ai/sdk";
import { expect, test } from "vitest";
import { type Reply, say } from "../support/scripted-model.ts";
import { until } from "../support/until.ts";
import { refusal, v1App } from "../support/v1-app.ts";
import { message, place, untilIdle } from "../support/v1-session.ts";

test("a full host rejects messages, and says when to retry", async () => {
  const answer = Promise.withResolvers<Reply>();
  await using app = await v1App({
    host: { capacity: { max_turns: 1, max_queue: 0 } },
    script: () => answer.promise,
  });
  const client = await app.client();
  const here = await place(client);
  const { id } = await client.beta.sessions.create({ ...here });
  // The only place is taken until the model answers.
  const { id: working } = await client.beta.sessions.create({ ...here, initial_events: [message("hello")] });
  await until(
    () => app.host.load().turns,
    (turns) => turns === 1,
  );
  for (const attempt of [
    () => client.beta.sessions.events.send(id, { events: [message("hello")] }),
    () => client.beta.sessions.create({ ...here, initial_events: [message("hello")] }),
  ]) {
    const error = await refusal(attempt());
    expect(error).toBeInstanceOf(RateLimitError);
    expect(Number(error.headers?.get("retry-after"))).toBeGreaterThan(0);
  }
  expect((await client.beta.sessions.list()).data.map((session) => session.id)).toEqual([working, id]);
  answer.resolve(say("Done."));
  await untilIdle(await client.beta.sessions.events.stream(working));
});
