import { afterAll, beforeAll, expect, test } from "vitest";
import { mintKey } from "../../src/server/http/key-secret.ts";
import { type People, people, session } from "../support/api-people.ts";
import { order } from "../support/obedient-model.ts";
import { sampleRun } from "../support/suite-run.ts";

let all: People;
beforeAll(async () => {
  all = await people();
});
afterAll(() => all.api[Symbol.asyncDispose]());

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly items?: Schema;
}
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly required?: boolean }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** The smallest value that a schema accepts. */
function least(schema: Schema, { components }: Pick<Document, "components">): unknown {
  const { $ref, enum: values, anyOf, oneOf, properties = {}, required = [], type } = schema;
  if ($ref !== undefined) return least(components.schemas[$ref.split("/").at(-1) ?? ""] ?? {}, { components });
  if (schema.const !== undefined) return schema.const;
  if (values !== undefined) return values[0];
  const [choice] = anyOf ?? oneOf ?? [];
  if (choice !== undefined) return least(choice, { components });
  if (type === "string") return "x";
  if (type === "number" || type === "integer") return 1;
  if (type === "boolean") return false;
  if (type === "array") return [];
  return Object.fromEntries(required.map((name) => [name, least(properties[name] ?? {}, { components })]));
}

const touch = (name: string): [string, Record<string, unknown>] => ["Bash", { command: `touch ${name}` }];

/** Collection → the id of one of the project's items. */
async function things(): Promise<Readonly<Record<string, string>>> {
  const { api, admin, operator } = all;
  const id = await session(operator, order(touch("a.txt"), touch("b.txt")));
  const waiting = `/api/approvals?status=pending&session_id=${id}&wait=20`;
  const first = (await operator.get(waiting)).body.data[0].id as string;
  await operator.post(`/api/approvals/${first}/answer`, { behavior: "allow", scope: "project" });
  const second = (await operator.get(`${waiting}&after=${first}`)).body.data[0].id as string;
  const key = mintKey({ project: api.project, name: "ci", role: "viewer" }, api.deps).record;
  await api.store.registry.keys.create(key);
  const run = sampleRun({ project: api.project });
  await api.store.suiteRuns.add(run);
  const idOf = async (path: string, body: object): Promise<string> => (await admin.post(path, body)).body.id as string;
  return {
    sessions: id,
    approvals: second,
    grants: (await admin.get("/api/grants")).body.data[0].id as string,
    agents: await idOf("/api/agents", { definition: { name: "x", model: "m" } }),
    environments: await idOf("/api/environments", { name: "x", definition: {} }),
    webhooks: await idOf("/api/webhooks", { url: "https://example.com/", events: [] }),
    keys: key.id,
    "suites/runs": run.id,
  };
}

test("another project's records are not found, on any route", async () => {
  const { api, admin, stranger } = all;
  const document = (await (await api.app.request("/openapi.json")).json()) as Document;
  const ids = await things();
  const known = Object.keys(ids).map((name) => `/api/${name}/{id}`);
  const asked = Object.entries(document.paths)
    // Trust goes by the hash of a content, which belongs to no project; test/server/api-trust.test.ts looks at that.
    .filter(([path]) => path.includes("{") && path !== "/api/trust/{hash}")
    .flatMap(([path, item]) => Object.entries(item).map(([method, operation]) => ({ path, method, operation })));
  expect(asked.length).toBeGreaterThan(30);
  for (const { path, method, operation } of asked) {
    expect(
      known.some((start) => path.startsWith(start)),
      `${path}: give the test an id for it`,
    ).toBe(true);
    const query = (operation.parameters ?? []).filter((one) => one.in === "query" && one.required === true);
    const asking = query.map(({ name }) => `${name}=x`).join("&");
    const schema = operation.requestBody?.content["application/json"]?.schema;
    const send = (given: string) =>
      stranger.send(
        method.toUpperCase(),
        `${path.replace("{id}", given).replace("{seq}", "1")}?${asking}`,
        schema && least(schema, document),
      );
    const id = ids[path.slice("/api/".length, path.indexOf("/{id}"))] ?? "";
    const [theirs, nobodys] = [await send(id), await send("none")];
    const where = `${method} ${path}: ${JSON.stringify(theirs.body)}`;
    expect([theirs.status, theirs.body?.error.type], where).toEqual([404, "not_found_error"]);
    // The error does not reveal that they exist.
    expect(nobodys.body.error.message, where).toBe((theirs.body.error.message as string).replaceAll(id, "none"));
  }
  // Their owner still has all of them.
  for (const name of ["sessions", "approvals", "agents", "environments", "webhooks", "suites/runs"])
    expect((await admin.get(`/api/${name}/${ids[name]}`)).status, name).toBe(200);
  expect((await admin.get(`/api/approvals/${ids["approvals"]}`)).body.status).toBe("pending");
});
