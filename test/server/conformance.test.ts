import type Anthropic from "@anthropic-ai/sdk";
import { APIError, toFile } from "@anthropic-ai/sdk";
import { betaTool } from "@anthropic-ai/sdk/helpers/beta/json-schema";
import { afterAll, beforeAll, expect, test } from "vitest";
import { v1App } from "../support/v1-app.ts";
import { message, place, turn, untilIdle } from "../support/v1-session.ts";

/**
 * The official client, and nothing else, against the server. Every method it has on these resources is found by looking
 * at it, so that a new one in a newer client cannot be forgotten: the table below says for each whether it is served, or
 * what the server says it does not support.
 */
const RESOURCES = ["agents", "environments", "sessions", "files", "models"] as const;

/** Everything that the methods are tried on. */
interface World {
  readonly client: Anthropic;
  readonly agent: string;
  readonly environment: string;
  readonly session: string;
  readonly thread: string;
  readonly file: string;
  readonly resource: string;
}

/** Resolves to what the method gave; rejects as the client does. */
type Attempt = (world: World) => Promise<unknown>;

interface Served {
  readonly attempt: Attempt;
  /** What must be in the answer. */
  readonly gives: object;
}

interface Unsupported {
  readonly attempt: Attempt;
  /** What the refusal names. */
  readonly unsupported: string;
}

const model = "claude-opus-4-8";
const list = { data: expect.any(Array) as unknown };
const work = "environments.work";
const ofWork = ({ environment }: World) => ({ environment_id: environment });
const ofSession = ({ session }: World) => ({ session_id: session });

const METHODS: Readonly<Record<string, Served | Unsupported>> = {
  "agents.create": {
    attempt: ({ client }) => client.beta.agents.create({ name: "New", model }),
    gives: { type: "agent", version: 1 },
  },
  "agents.retrieve": {
    attempt: ({ client, agent }) => client.beta.agents.retrieve(agent, { version: 1 }),
    gives: { type: "agent", version: 1 },
  },
  "agents.update": {
    attempt: ({ client, agent }) => client.beta.agents.update(agent, { description: "Changed." }),
    gives: { type: "agent", version: 2, description: "Changed." },
  },
  "agents.list": { attempt: async ({ client }) => client.beta.agents.list({ limit: 5 }), gives: list },
  "agents.archive": {
    attempt: async ({ client }) =>
      client.beta.agents.archive((await client.beta.agents.create({ name: "Old", model })).id),
    gives: { type: "agent", archived_at: expect.any(String) as unknown },
  },
  "agents.versions.list": {
    attempt: async ({ client, agent }) => client.beta.agents.versions.list(agent),
    gives: list,
  },

  "environments.create": {
    attempt: ({ client }) => client.beta.environments.create({ name: "New" }),
    gives: { type: "environment" },
  },
  "environments.retrieve": {
    attempt: ({ client, environment }) => client.beta.environments.retrieve(environment),
    gives: { type: "environment" },
  },
  "environments.update": {
    attempt: ({ client, environment }) => client.beta.environments.update(environment, { name: "Renamed" }),
    gives: { type: "environment", name: "Renamed" },
  },
  "environments.list": { attempt: async ({ client }) => client.beta.environments.list(), gives: list },
  "environments.delete": {
    attempt: async ({ client }) =>
      client.beta.environments.delete((await client.beta.environments.create({ name: "Old" })).id),
    gives: { type: "environment_deleted" },
  },
  "environments.archive": {
    attempt: async ({ client }) =>
      client.beta.environments.archive((await client.beta.environments.create({ name: "Old" })).id),
    gives: { archived_at: expect.any(String) as unknown },
  },
  "environments.work.retrieve": {
    attempt: (world) => world.client.beta.environments.work.retrieve("work_1", ofWork(world)),
    unsupported: work,
  },
  "environments.work.update": {
    attempt: (world) =>
      world.client.beta.environments.work.update("work_1", { ...ofWork(world), metadata: { a: "1" } }),
    unsupported: work,
  },
  "environments.work.list": {
    attempt: async ({ client, environment }) => client.beta.environments.work.list(environment),
    unsupported: work,
  },
  "environments.work.ack": {
    attempt: (world) => world.client.beta.environments.work.ack("work_1", ofWork(world)),
    unsupported: work,
  },
  "environments.work.heartbeat": {
    attempt: (world) => world.client.beta.environments.work.heartbeat("work_1", ofWork(world)),
    unsupported: work,
  },
  "environments.work.poll": {
    attempt: ({ client, environment }) => client.beta.environments.work.poll(environment),
    unsupported: work,
  },
  "environments.work.stats": {
    attempt: ({ client, environment }) => client.beta.environments.work.stats(environment),
    unsupported: work,
  },
  "environments.work.stop": {
    attempt: (world) => world.client.beta.environments.work.stop("work_1", ofWork(world)),
    unsupported: work,
  },
  "environments.work.poller": {
    attempt: async ({ client, environment }) => {
      const environmentKey = client.apiKey ?? "";
      for await (const item of client.beta.environments.work.poller({ environmentId: environment, environmentKey }))
        return item;
    },
    unsupported: work,
  },
  "environments.work.worker": {
    attempt: ({ client, environment }) =>
      client.beta.environments.work.worker({ environmentId: environment, environmentKey: client.apiKey ?? "" }).run(),
    unsupported: work,
  },

  "sessions.create": {
    attempt: ({ client, agent, environment }) =>
      client.beta.sessions.create({ agent, environment_id: environment, title: "New" }),
    gives: { type: "session", status: "idle", title: "New" },
  },
  "sessions.retrieve": {
    attempt: ({ client, session }) => client.beta.sessions.retrieve(session),
    gives: { type: "session" },
  },
  "sessions.update": {
    attempt: ({ client, session }) => client.beta.sessions.update(session, { title: "Changed" }),
    gives: { type: "session", title: "Changed" },
  },
  "sessions.list": {
    attempt: async ({ client }) => client.beta.sessions.list({ statuses: ["idle", "running"], order: "asc" }),
    gives: list,
  },
  "sessions.delete": {
    attempt: async ({ client, agent, environment }) =>
      client.beta.sessions.delete((await client.beta.sessions.create({ agent, environment_id: environment })).id),
    gives: { type: "session_deleted" },
  },
  "sessions.archive": {
    attempt: async ({ client, agent, environment }) =>
      client.beta.sessions.archive((await client.beta.sessions.create({ agent, environment_id: environment })).id),
    gives: { archived_at: expect.any(String) as unknown },
  },
  "sessions.events.list": {
    attempt: async ({ client, session }) => client.beta.sessions.events.list(session, { types: ["user.message"] }),
    gives: list,
  },
  "sessions.events.send": {
    attempt: ({ client, session }) =>
      client.beta.sessions.events.send(session, { events: [{ type: "user.interrupt" }] }),
    gives: { data: [{ type: "user.interrupt" }] },
  },
  "sessions.events.stream": {
    attempt: async ({ client, session }) => {
      const stream = await client.beta.sessions.events.stream(session, {}, { headers: { "last-event-id": "1" } });
      return (await untilIdle(stream)).at(-1);
    },
    gives: { type: "session.status_idle" },
  },
  "sessions.events.toolRunner": {
    attempt: async ({ client, agent, environment }) => {
      const { id: session } = await client.beta.sessions.create({ agent, environment_id: environment });
      await turn(client, session, [message("hello")]);
      const inputSchema = { type: "object", properties: {} } as const;
      const tool = betaTool({ name: "nothing", description: "Does nothing.", inputSchema, run: () => "" });
      const calls = [];
      for await (const call of client.beta.sessions.events.toolRunner(session, { tools: [tool], maxIdleMs: 50 }))
        calls.push(call);
      return calls;
    },
    gives: [],
  },
  "sessions.resources.retrieve": {
    attempt: (world) => world.client.beta.sessions.resources.retrieve(world.resource, ofSession(world)),
    gives: { type: "file" },
  },
  "sessions.resources.update": {
    attempt: (world) =>
      world.client.beta.sessions.resources.update(world.resource, { ...ofSession(world), authorization_token: "t" }),
    unsupported: "replacing a repository's token",
  },
  "sessions.resources.list": {
    attempt: async ({ client, session }) => client.beta.sessions.resources.list(session),
    gives: list,
  },
  "sessions.resources.delete": {
    attempt: (world) => world.client.beta.sessions.resources.delete(world.resource, ofSession(world)),
    unsupported: "removing a resource",
  },
  "sessions.resources.add": {
    attempt: ({ client, session, file }) =>
      client.beta.sessions.resources.add(session, { type: "file", file_id: file, mount_path: "more/a.txt" }),
    gives: { type: "file", mount_path: "more/a.txt" },
  },
  "sessions.threads.retrieve": {
    attempt: (world) => world.client.beta.sessions.threads.retrieve(world.thread, ofSession(world)),
    gives: { type: "session_thread", parent_thread_id: null },
  },
  "sessions.threads.list": {
    attempt: async ({ client, session }) => client.beta.sessions.threads.list(session),
    gives: list,
  },
  "sessions.threads.archive": {
    attempt: (world) => world.client.beta.sessions.threads.archive(world.thread, ofSession(world)),
    unsupported: "archiving a single thread",
  },
  "sessions.threads.events.list": {
    attempt: async (world) => world.client.beta.sessions.threads.events.list(world.thread, ofSession(world)),
    gives: list,
  },
  "sessions.threads.events.stream": {
    attempt: async (world) => {
      const headers = { "last-event-id": "1" };
      const { events } = world.client.beta.sessions.threads;
      for await (const event of await events.stream(world.thread, ofSession(world), { headers }))
        if (event.type === "agent.message") return event;
    },
    gives: { type: "agent.message" },
  },

  "files.list": { attempt: async ({ client }) => client.beta.files.list(), gives: list },
  "files.delete": {
    attempt: async ({ client }) => client.beta.files.delete((await uploadFile(client)).id),
    gives: { type: "file_deleted" },
  },
  "files.download": {
    attempt: async ({ client, file }) => ({ text: await (await client.beta.files.download(file)).text() }),
    gives: { text: "hello" },
  },
  "files.retrieveMetadata": {
    attempt: ({ client, file }) => client.beta.files.retrieveMetadata(file),
    gives: { type: "file", filename: "a.txt", size_bytes: 5 },
  },
  "files.upload": { attempt: ({ client }) => uploadFile(client), gives: { type: "file", mime_type: "text/plain" } },

  "models.retrieve": { attempt: ({ client }) => client.beta.models.retrieve(model), gives: { id: model } },
  "models.list": { attempt: async ({ client }) => client.beta.models.list({ limit: 3 }), gives: { has_more: true } },
};

async function uploadFile(client: Anthropic) {
  return client.beta.files.upload({ file: await toFile(Buffer.from("hello"), "a.txt", { type: "text/plain" }) });
}

let world: World;
const parts = new AsyncDisposableStack();
beforeAll(async () => {
  const app = parts.use(await v1App());
  const client = await app.client();
  const { agent, environment_id: environment } = await place(client);
  const { id: file } = await uploadFile(client);
  const created = await client.beta.sessions.create({
    agent,
    environment_id: environment,
    resources: [{ type: "file", file_id: file }],
  });
  await turn(client, created.id, [message("hello")]);
  const [thread] = (await client.beta.sessions.threads.list(created.id)).data;
  const [resource] = (await client.beta.sessions.resources.list(created.id)).data;
  const resourceId = resource?.type === "file" ? resource.id : "";
  world = { client, agent, environment, session: created.id, thread: thread?.id ?? "", file, resource: resourceId };
});
afterAll(() => parts.disposeAsync());

/** The methods of a resource and of those below it, as the client has them. */
function methodsOf(resource: object, path: string): string[] {
  const own = Object.getOwnPropertyNames(Object.getPrototypeOf(resource)).filter((name) => name !== "constructor");
  const below = Object.entries(resource).filter(([name, value]) => !name.startsWith("_") && typeof value === "object");
  return [
    ...own.map((name) => `${path}.${name}`),
    ...below.flatMap(([name, value]) => methodsOf(value as object, `${path}.${name}`)),
  ];
}

test("the table has every method of the official client and no others", () => {
  const { beta } = world.client;
  const found = RESOURCES.flatMap((resource) => methodsOf(beta[resource], resource));
  expect(Object.keys(METHODS).toSorted()).toEqual(found.toSorted());
});

test.for(Object.keys(METHODS))("%s", async (name) => {
  const method = METHODS[name];
  if (method === undefined) throw new Error("There is no such method.");
  if ("gives" in method) {
    expect(await method.attempt(world)).toMatchObject(method.gives);
    return;
  }
  const error = await method.attempt(world).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof APIError)) throw new Error(`It was not refused: ${String(error)}`);
  expect(error.type).toBe("invalid_request_error");
  expect(error.errorCode).toBe("unsupported");
  expect(error.apiMessage).toContain(`Capstan does not support ${method.unsupported}`);
});
