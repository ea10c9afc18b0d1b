import { afterAll, beforeAll, expect, test } from "vitest";
import { WorkerPool } from "../../../src/app/heavy/pool.ts";
import { heavyPorts } from "../../../src/app/heavy/ports.ts";
import { type People, people, session } from "../../support/api-people.ts";
import { temporaryDirectory } from "../../support/host.ts";

/** No job ends in this time. Work that a route does outside the threads does not notice. */
const HASTY = { jobMs: 1 };

const directory = temporaryDirectory();
const pool = new WorkerPool({ home: directory.path, environment: {} }, HASTY);
let all: People;
let id: string;
beforeAll(async () => {
  all = await people({ ports: heavyPorts(pool) });
  id = await session(all.operator, "Say hello.");
});
afterAll(async () => {
  await all.api[Symbol.asyncDispose]();
  await pool[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});

test.each([
  ["an audit", "GET", "/api/audit/verify"],
  ["a replay of rules", "POST", "/api/policy/replay"],
  ["a search", "GET", "/api/sessions?search=hello"],
])("%s runs in a thread, within its limits", async (_what, method, path) => {
  const body = method === "POST" ? { permissions: { deny: ["Bash"] } } : undefined;
  const { status, body: answer } = await all.viewer.send(method, path, body);
  expect([status, answer.error?.message]).toEqual([413, expect.stringContaining("Narrow it")]);
});

test("an export runs in a thread, within its limits", async () => {
  const { response } = await all.viewer.get(`/api/sessions/${id}/export`);
  // It is sent as it is read, so that its failure comes after its status.
  await expect(response.text()).rejects.toThrow("Narrow it");
});
