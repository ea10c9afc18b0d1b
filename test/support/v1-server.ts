import type Anthropic from "@anthropic-ai/sdk";
import { afterAll } from "vitest";
import { type V1App, v1App } from "./v1-app.ts";
import { type Place, place } from "./v1-session.ts";

export interface V1Server {
  readonly app: V1App;
  readonly client: Anthropic;
  readonly here: Place;
  /** A session of the agent and the environment that are there. */
  readonly newSession: () => Promise<string>;
}

/** One server for all tests of a file, with an agent and an environment. */
export async function startV1Server(): Promise<V1Server> {
  // The processes of tests that are over need not wait for a message.
  const app = await v1App({ host: { capacity: { max_idle_processes: 1 } } });
  afterAll(() => app[Symbol.asyncDispose]());
  const client = await app.client();
  const here = await place(client);
  return { app, client, here, newSession: async () => (await client.beta.sessions.create({ ...here })).id };
}
