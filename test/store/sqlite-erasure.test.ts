import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { parseEnvironment } from "../../src/core/environment/environment.ts";
import { initialState } from "../../src/core/session/state.ts";
import type { Store } from "../../src/core/ports/store.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { sampleCase, sampleRun, sampleSuite, sampleTrial } from "../support/suite-run.ts";
import { environmentRecord, fileRecord, PROJECT } from "./registry-samples.ts";
import {
  manualClock,
  MINUTE,
  sampleAgent,
  sampleMessage,
  sampleMessages,
  sampleOwner,
  sampleSession,
} from "./samples.ts";
import { temporaryDirectory } from "./temporary.ts";

/** In everything that people or agents wrote. Keys of an index, such as uuids, may leave a trace until a VACUUM. */
const SECRET = "open-sesame";

test("nothing of a deleted session is left in any file of the store", async () => {
  await using directory = await temporaryDirectory();
  await using store = await openSqliteStore({ path: join(directory.path, "capstan.db"), clock: manualClock() });
  // Others before, between and after, so that the erased rows share pages with rows that stay.
  for (const id of ["sesn_a", "sesn_c"]) await fill(store, { id, text: "harmless" });
  const fence = await fill(store, { id: "sesn_b", text: SECRET });
  await fill(store, { id: "sesn_d", text: "harmless" });
  expect(await filesWith(directory.path, SECRET)).not.toEqual([]);

  await store.deleteSession("sesn_b", fence);
  expect(await filesWith(directory.path, SECRET)).toEqual([]);
  for (const id of ["sesn_a", "sesn_b", "sesn_c", "sesn_d"])
    expect(await store.verify(id)).toMatchObject({ ok: true, events: 400 });
});

test("a deleted session keeps its hashes, its spend and the time of its end", async () => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, "capstan.db");
  const clock = manualClock();
  await using store = await openSqliteStore({ path, clock });
  const fence = await fill(store, { id: "sesn_1", text: SECRET });
  using reader = new DatabaseSync(path, { readOnly: true });
  const hashes = reader.prepare("SELECT seq, hash FROM events ORDER BY seq").all();
  clock.advance(MINUTE);
  await store.deleteSession("sesn_1", fence);
  expect(reader.prepare("SELECT seq, hash FROM events ORDER BY seq").all()).toEqual(hashes);
  expect(reader.prepare("SELECT DISTINCT event FROM events").all()).toEqual([{ event: "" }]);
  expect(reader.prepare("SELECT * FROM sessions").get()).toMatchObject({
    id: "sesn_1",
    deleted_at: clock.now(),
    head_seq: 400,
    head_hash: hashes.at(-1)?.["hash"],
    agent: "{}",
    cwd: "",
    title: null,
    first_message: "",
    metadata: "{}",
    resources: "[]",
    agent_id: null,
    agent_version: null,
    environment_id: null,
  });
});

test("nothing that was said of a deleted environment or file is left in the store", async () => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, "capstan.db");
  {
    await using store = await openSqliteStore({ path, clock: manualClock() });
    const { environments, files } = store.registry;
    const metadata = { [SECRET]: SECRET };
    const variables = { definition: parseEnvironment({ variables: { PIN: SECRET } }), config: metadata };
    const named = { name: SECRET, description: SECRET, directory: `/${SECRET}` };
    await environments.create(environmentRecord("env_1", { ...named, ...variables, metadata }));
    await files.create(fileRecord("file_1", { filename: SECRET, mimeType: SECRET }));
    expect(await filesWith(directory.path, SECRET)).not.toEqual([]);
    await environments.delete(PROJECT, "env_1");
    await files.delete(PROJECT, "file_1");
  }
  expect(await filesWith(directory.path, SECRET)).toEqual([]);
});

test("nothing that was said in a deleted run of suites is left in any file of the store", async () => {
  await using directory = await temporaryDirectory();
  await using store = await openSqliteStore({ path: join(directory.path, "capstan.db"), clock: manualClock() });
  // Others before and after, so that the erased rows share pages with rows that stay.
  for (const [id, text] of Object.entries({ run_a: "harmless", run_b: SECRET, run_c: "harmless" })) {
    const trials = Array.from({ length: 40 }, (_, index) => sampleTrial({ text: text.repeat(1 + index ** 2) }));
    const suite = sampleSuite("refactor", { file: text, agent: text, cases: [sampleCase(text, { trials })] });
    await store.suiteRuns.add(sampleRun({ id, suites: [suite], problems: [text] }));
  }
  expect(await filesWith(directory.path, SECRET)).not.toEqual([]);

  const { project } = sampleRun();
  await store.suiteRuns.delete(project, "run_b");
  expect(await filesWith(directory.path, SECRET)).toEqual([]);
  expect((await store.suiteRuns.list(project, { limit: 10 })).map(({ id }) => id)).toEqual(["run_c", "run_a"]);
});

/** What someone with write access to the file does to the remains of five events, and where the check finds it. */
const TAMPERING = [
  { what: "a removed hash", seq: 2, sql: "DELETE FROM events WHERE seq = 2" },
  { what: "a blanked hash", seq: 3, sql: "UPDATE events SET hash = '' WHERE seq = 3" },
  {
    what: "another last hash",
    seq: 5,
    sql: "UPDATE events SET hash = (SELECT hash FROM events WHERE seq = 1) WHERE seq = 5",
  },
  { what: "an event put in", seq: 4, sql: "UPDATE events SET event = '{}' WHERE seq = 4" },
  { what: "hashes cut at the end", seq: 4, sql: "DELETE FROM events WHERE seq >= 4" },
  { what: "all hashes removed", seq: 1, sql: "DELETE FROM events" },
  {
    what: "a hash added",
    seq: 6,
    sql: "INSERT INTO events SELECT session_id, 6, event, hash FROM events WHERE seq = 5",
  },
  { what: "a tombstone taken away", seq: 1, sql: "UPDATE sessions SET deleted_at = NULL" },
];

test.for(TAMPERING)("finds $what in a deleted session", async ({ sql, seq }) => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, "capstan.db");
  await using store = await openSqliteStore({ path, clock: manualClock() });
  await store.createSession(sampleSession("sesn_1"));
  const { fence } = await store.leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
  await store.append("sesn_1", { after: 0, fence, events: sampleMessages(5) });
  await store.deleteSession("sesn_1", fence);
  expect(await store.verify("sesn_1")).toMatchObject({ ok: true, events: 5 });

  using intruder = new DatabaseSync(path);
  intruder.exec(sql);
  expect(await store.verify("sesn_1")).toMatchObject({ ok: false, seq, problem: expect.any(String) });
});

test("finds a session that was marked deleted but not erased", async () => {
  await using directory = await temporaryDirectory();
  const path = join(directory.path, "capstan.db");
  await using store = await openSqliteStore({ path, clock: manualClock() });
  await fill(store, { id: "sesn_1", text: SECRET });
  using intruder = new DatabaseSync(path);
  intruder.exec("UPDATE sessions SET deleted_at = 1");
  expect(await store.verify("sesn_1")).toMatchObject({ ok: false, seq: 1 });
});

/** Small and large texts in every place that takes one; gives the fence. */
async function fill(store: Store, { id, text }: { readonly id: string; readonly text: string }): Promise<number> {
  const agent = { ...sampleAgent, instructions: text };
  const metadata = { [text]: text };
  const file = { id: "sesrsc_1", type: "file", fileId: "file_1", mountPath: text, createdAt: 0 } as const;
  const made = { agentRef: { id: text, version: 1 }, environmentId: text };
  await store.createSession(
    sampleSession(id, { agent, cwd: `/srv/${text}`, title: text, metadata, resources: [file], ...made }),
  );
  const { fence } = await store.leases.acquire(id, sampleOwner(`host_${text}`), MINUTE);
  for (let after = 0; after < 400; after += 40) {
    const events = Array.from({ length: 40 }, (_, index) => sampleMessage(text.repeat(1 + index ** 2)));
    await store.append(id, { after, fence, events });
    const entries = events.map((event, index) => ({ type: text, uuid: `${id}-${after + index}`, message: event }));
    await store.transcripts.append(id, pathFor(after), entries);
  }
  await store.transcripts.replace(id, pathFor(0), [{ type: "user", message: text }]);
  await store.saveSnapshot(id, { seq: 400, state: { ...initialState, model: text } });
  return fence;
}

function pathFor(after: number): string {
  return after % 80 === 0 ? "" : "subagents/x";
}

async function filesWith(directory: string, text: string): Promise<readonly string[]> {
  const found: string[] = [];
  for (const file of await readdir(directory))
    if ((await readFile(join(directory, file))).includes(text)) found.push(file);
  return found;
}
