import { join } from "node:path";
import { expect, test } from "vitest";
import { clock, ids } from "../../src/app/clock.ts";
import { PLAIN_SESSION, type SessionRecord, type Store } from "../../src/core/ports/store.ts";
import { importSession } from "../../src/runtime/files/archive.ts";
import { exportSession } from "../../src/runtime/files/export-session.ts";
import { contentHash } from "../../src/store/sqlite/outputs/tool-outputs.ts";
import { eventHash, genesisHash } from "../../src/store/sqlite/audit/hash-chain.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { MADE_FROM } from "./contract/under-test.ts";
import { sampleOwner, sampleSession } from "./samples.ts";
import { temporaryDirectory } from "./temporary.ts";

const deps = {
  ids,
  clock,
  owner: sampleOwner("host_importer"),
  chain: { genesisHash, eventHash, contentHash },
  trust: true,
};
const repository = {
  id: "sesrsc_1",
  type: "repository",
  url: "https://kim:hunter2@git.example/shop.git",
  checkout: null,
  mountPath: "shop",
  createdAt: 0,
} as const;

test("what is kept with a session goes with it, and what belongs to the store it was in stays there", async () => {
  await using temporary = await temporaryDirectory();
  await using store = await openSqliteStore({ path: join(temporary.path, "capstan.db"), clock });
  const record = sampleSession("sesn_old", { ...MADE_FROM, resources: [repository] });
  await store.createSession(record);
  const lines = await Array.fromAsync(exportSession(store, record.id));
  for (const text of ["agent_1", "env_1", "hunter2"]) expect(lines.join("\n")).not.toContain(text);
  const imported = await imports(store, lines);
  expect(imported).toMatchObject({ ...PLAIN_SESSION, metadata: record.metadata });
});

test("an archive that names records of another store is read, and they are not taken over", async () => {
  await using temporary = await temporaryDirectory();
  await using store = await openSqliteStore({ path: join(temporary.path, "capstan.db"), clock });
  const session = sampleSession("sesn_old", MADE_FROM);
  const line = JSON.stringify({ capstan: 1, session, head: 0 });
  expect(await imports(store, [line])).toMatchObject({ ...PLAIN_SESSION, metadata: session.metadata });
});

test("an archive of an earlier version says nothing of what is kept with a session", async () => {
  await using temporary = await temporaryDirectory();
  await using store = await openSqliteStore({ path: join(temporary.path, "capstan.db"), clock });
  const { metadata, agentRef, environmentId, resources, archivedAt, ...session } = sampleSession("sesn_old");
  const line = JSON.stringify({ capstan: 1, session, head: 0 });
  expect(await imports(store, [line])).toMatchObject({ metadata, agentRef, environmentId, resources, archivedAt });
});

test("metadata that is no text is refused", async () => {
  await using temporary = await temporaryDirectory();
  await using store = await openSqliteStore({ path: join(temporary.path, "capstan.db"), clock });
  const session = { ...sampleSession("sesn_old"), metadata: { ticket: 7 } };
  await expect(imports(store, [JSON.stringify({ capstan: 1, session, head: 0 })])).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("session.metadata.ticket"),
  });
});

async function imports(store: Store, lines: readonly string[]): Promise<SessionRecord | undefined> {
  return store.session(await importSession(store, lines, deps));
}
