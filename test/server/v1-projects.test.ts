import { toFile } from "@anthropic-ai/sdk";
import { afterAll, beforeAll, expect, test } from "vitest";
import { v1Routes } from "../../src/server/v1/routes.ts";
import { type V1App, v1App } from "../support/v1-app.ts";
import { message, place, turn } from "../support/v1-session.ts";
import { order } from "../support/obedient-model.ts";

/** What belongs to one project is not there for another: every route is tried with the other project's ids. */

let app: V1App;
/** By the name that routes give it. */
let ids: Readonly<Record<string, string>>;
beforeAll(async () => {
  app = await v1App();
  const client = await app.client();
  const { agent, environment_id: environment } = await place(client);
  const { id: file } = await client.beta.files.upload({ file: await toFile(Buffer.from("x"), "x.txt") });
  const session = await client.beta.sessions.create({
    agent,
    environment_id: environment,
    resources: [{ type: "file", file_id: file }],
  });
  await turn(client, session.id, [message(order(["Bash", { command: "touch x" }]))]);
  const [thread] = (await client.beta.sessions.threads.list(session.id)).data;
  const [resource] = session.resources;
  ids = {
    agent,
    environment,
    file,
    session: session.id,
    thread: thread?.id ?? "",
    resource: resource?.type === "file" ? resource.id : "",
  };
});
afterAll(() => app[Symbol.asyncDispose]());

/** A body that would do something if the thing were there. */
const BODIES: Readonly<Record<string, unknown>> = {
  "POST /agents/:agent": { name: "Stolen" },
  "POST /environments/:environment": { name: "Stolen" },
  "POST /sessions/:session": { title: "Stolen" },
  "POST /sessions/:session/events": { events: [{ type: "user.interrupt" }] },
  "POST /sessions/:session/resources": { type: "file", file_id: "file_1" },
  "POST /sessions/:session/resources/:resource": { authorization_token: "t" },
};

interface Route {
  readonly method: string;
  readonly path: string;
}

/** Everything that names a thing of a project, as the app itself lists it. */
async function routes(): Promise<Route[]> {
  const all = v1Routes(app.deps).routes.filter(({ path }) => path.includes(":") && path !== "/models/:model");
  return all.flatMap(({ method, path }) =>
    (method === "ALL" ? ["GET", "POST", "PUT", "DELETE"] : [method]).map((each) => ({ method: each, path })),
  );
}

test("nothing of a project is found by another, on any route", async () => {
  const found = await routes();
  expect(found.length).toBeGreaterThan(30);
  for (const { method, path } of found) {
    const address = path.replaceAll(/:(\w+)/g, (_, name: string) => ids[name] ?? "").replace("*", "poll");
    const body = BODIES[`${method} ${path}`];
    const theirs = await app.send(`/v1${address}`, { method, project: "another", body });
    expect(theirs.status, `${method} ${path}: ${theirs.message}`).toBe(404);
    // With a stranger's id and with one that nobody has, the answer is the same.
    const nobody = address.replaceAll(/(?<=_)[0-9a-f]{32}/g, "0".repeat(32));
    const none = await app.send(`/v1${nobody}`, { method, project: "another", body });
    expect({ status: none.status, code: none.code }).toEqual({ status: theirs.status, code: theirs.code });
  }
});

test("records of another project cannot be used in one's own", async () => {
  const stranger = await app.client("admin", "another");
  const own = await place(stranger);
  const { id: session } = await stranger.beta.sessions.create(own);
  const attempts: readonly (readonly [string, unknown])[] = [
    ["/v1/sessions", { ...own, agent: ids["agent"] }],
    ["/v1/sessions", { ...own, environment_id: ids["environment"] }],
    ["/v1/sessions", { ...own, resources: [{ type: "file", file_id: ids["file"] }] }],
    [`/v1/sessions/${session}/resources`, { type: "file", file_id: ids["file"] }],
    [
      `/v1/sessions/${session}/events`,
      {
        events: [
          { type: "user.message", content: [{ type: "image", source: { type: "file", file_id: ids["file"] } }] },
        ],
      },
    ],
    [
      "/v1/agents",
      { name: "L", model: "claude-opus-4-8", multiagent: { type: "coordinator", agents: [ids["agent"]] } },
    ],
  ];
  for (const [path, body] of attempts) {
    const { status, message: said } = await app.send(path, { project: "another", body });
    expect([400, 404], said).toContain(status);
    expect(said).toMatch(/[Nn]ot found/);
  }
  // A call of another project's session is not waited for in this one's name.
  const [approval] = await app.host.approvals.list({ sessionId: ids["session"] ?? "" });
  const confirmation = { type: "user.tool_confirmation", tool_use_id: approval?.request.tool_use_id, result: "allow" };
  const answer = await app.send(`/v1/sessions/${session}/events`, {
    project: "another",
    body: { events: [confirmation] },
  });
  expect(answer.message).toContain("is not waiting for an answer");
  expect((await app.host.approvals.get(approval?.id ?? "")).status).toBe("pending");
});

test("lists contain nothing of another project", async () => {
  const stranger = await app.client("admin", "empty");
  for (const page of [
    await stranger.beta.agents.list({ include_archived: true }),
    await stranger.beta.environments.list({ include_archived: true }),
    await stranger.beta.sessions.list({ include_archived: true }),
    await stranger.beta.files.list(),
    await stranger.beta.files.list({ ids: [ids["file"] ?? ""] }),
  ])
    expect(page.data).toEqual([]);
});
