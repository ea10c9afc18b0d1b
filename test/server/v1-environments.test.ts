import type Anthropic from "@anthropic-ai/sdk";
import {
  BetaEnvironmentArchivedError,
  BetaEnvironmentNotFoundError,
  BetaInvalidConfigTypeChangeError,
  BetaInvalidMetadataError,
} from "@anthropic-ai/sdk/resources/beta/environments/environments";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseEnvironment } from "../../src/core/environment/environment.ts";
import { refusal, type V1App, v1App } from "../support/v1-app.ts";

let app: V1App;
let client: Anthropic;
beforeAll(async () => {
  app = await v1App();
  client = await app.client();
});
afterAll(() => app[Symbol.asyncDispose]());

const definitionOf = async (id: string) => (await app.deps.registry.environments.get("default", id))?.definition;

test("an environment is an empty workspace for the session", async () => {
  const made = await client.beta.environments.create({ name: "plain", description: "d", metadata: { a: "1" } });
  expect(made).toMatchObject({
    type: "environment",
    id: expect.stringMatching(/^env_[0-9a-f]{32}$/),
    name: "plain",
    description: "d",
    metadata: { a: "1" },
    scope: "organization",
    archived_at: null,
    config: { type: "cloud", networking: { type: "unrestricted" }, packages: { pip: [] } },
  });
  expect(await client.beta.environments.retrieve(made.id)).toEqual(made);
  expect(await definitionOf(made.id)).toMatchObject({
    workspace: { kind: "copy", mounts: [] },
    sandbox: { mode: "off" },
  });
  const own = await refusal(client.beta.environments.create({ name: "own", config: { type: "self_hosted" } }));
  expect([own.status, own.apiMessage]).toEqual([400, expect.stringContaining("has no work queue")]);
});

test("limited networking is a sandbox that reaches the named hosts", async () => {
  const { id, config } = await client.beta.environments.create({
    name: "kept in",
    config: { type: "cloud", networking: { type: "limited", allowed_hosts: ["Example.com", "*.example.org"] } },
  });
  expect(config).toMatchObject({
    networking: {
      type: "limited",
      allowed_hosts: ["example.com", "*.example.org"],
      allow_mcp_servers: false,
      allow_package_managers: false,
    },
  });
  expect(await definitionOf(id)).toMatchObject({
    sandbox: { mode: "required", network: { allow: ["example.com", "*.example.org"] } },
  });
  // What an update leaves out stays.
  const limited = { type: "limited" } as const;
  const same = await client.beta.environments.update(id, { config: { type: "cloud", networking: limited } });
  expect(same.config).toEqual(config);
  const open = await client.beta.environments.update(id, {
    config: { type: "cloud", networking: { type: "unrestricted" } },
  });
  expect(open.config).toMatchObject({ networking: { type: "unrestricted" } });
  expect(await definitionOf(id)).toMatchObject({ sandbox: { mode: "off" } });
});

test("an update changes only what it names", async () => {
  const { id } = await client.beta.environments.create({ name: "a", metadata: { x: "1", y: "2", z: "3" } });
  const updated = await client.beta.environments.update(id, {
    name: "b",
    description: "new",
    metadata: { x: null, y: "", w: "4" },
  });
  expect(updated).toMatchObject({ name: "b", description: "new", metadata: { z: "3", w: "4" } });
  expect(await client.beta.environments.update(id, { description: null })).toMatchObject({
    description: null,
    name: "b",
  });
  const change = await refusal(client.beta.environments.update(id, { config: { type: "self_hosted" } }));
  expect(change).toBeInstanceOf(BetaInvalidConfigTypeChangeError);
});

test("an environment created elsewhere is shown as self-hosted, and keeps what the API cannot express", async () => {
  const id = app.deps.ids.next("env");
  const definition = parseEnvironment({ workspace: { kind: "worktree" }, variables: { A: "1" } });
  await app.deps.registry.environments.create({
    id,
    project: "default",
    name: "repository",
    description: null,
    metadata: {},
    definition,
    directory: app.cwd,
    config: {},
    createdAt: 1,
    updatedAt: 1,
    archivedAt: null,
  });
  expect(await client.beta.environments.retrieve(id)).toMatchObject({ config: { type: "self_hosted" } });
  await client.beta.environments.update(id, { name: "renamed", config: { type: "self_hosted" } });
  expect(await definitionOf(id)).toEqual(definition);
});

test("archived environments cannot be changed, and are listed on request", async () => {
  const lister = await app.client("admin", "lists");
  const ids: string[] = [];
  for (const name of ["a", "b", "c"]) ids.unshift((await lister.beta.environments.create({ name })).id);
  const [newest = "", , oldest = ""] = ids;
  const archived = await lister.beta.environments.archive(newest);
  expect(archived.archived_at).not.toBeNull();
  expect(await lister.beta.environments.archive(newest)).toEqual(archived);
  const listed = async (params: Anthropic.Beta.EnvironmentListParams): Promise<string[]> => {
    const found: string[] = [];
    for await (const { id } of lister.beta.environments.list(params)) found.push(id);
    return found;
  };
  expect(await listed({ limit: 1 })).toEqual(ids.slice(1));
  expect(await listed({ limit: 2, include_archived: true })).toEqual(ids);
  const error = await refusal(lister.beta.environments.update(newest, { name: "x" }));
  expect(error).toBeInstanceOf(BetaEnvironmentArchivedError);
  expect(await lister.beta.environments.delete(oldest)).toEqual({ type: "environment_deleted", id: oldest });
  expect(await refusal(lister.beta.environments.retrieve(oldest))).toBeInstanceOf(BetaEnvironmentNotFoundError);
  expect(await refusal(lister.beta.environments.delete(oldest))).toBeInstanceOf(BetaEnvironmentNotFoundError);
});

test("metadata beyond the limits has a separate error", async () => {
  const error = await refusal(client.beta.environments.create({ name: "a", metadata: { k: "v".repeat(513) } }));
  expect(error).toBeInstanceOf(BetaInvalidMetadataError);
  expect(error.apiMessage).toContain("more than 512 characters");
});

test.for([
  ["packages", { type: "cloud", packages: { pip: ["pandas"] } }],
  ["allow_package_managers", { type: "cloud", networking: { type: "limited", allow_package_managers: true } }],
  ["allow_mcp_servers", { type: "cloud", networking: { type: "limited", allow_mcp_servers: true } }],
] as const)("rejects %s by name", async ([what, config]) => {
  const params = { name: "a", config } as unknown as Anthropic.Beta.EnvironmentCreateParams;
  expect((await refusal(client.beta.environments.create(params))).apiMessage).toContain(what);
});

test.for([
  [
    { config: { type: "cloud", networking: { type: "limited", allowed_hosts: ["https://x.example"] } } },
    "is not a domain",
  ],
  [{ config: { type: "cloud", networking: { type: "limited", allowed_hosts: ["*.com"] } } }, "is not a domain"],
  [{ config: { type: "on_the_moon" } }, "config"],
  [{ scope: "account" }, "scope"],
  [{ planet: "mars" }, "planet"],
] as const)("rejects %j", async ([more, said]) => {
  const { status, message } = await app.send("/v1/environments", { body: { name: "a", ...more } });
  expect(status).toBe(400);
  expect(message).toContain(said);
});
