import { hash } from "node:crypto";
import { copyFile, rm } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { eventHash, genesisHash } from "../../src/store/sqlite/audit/hash-chain.ts";
import { type Audited, openAudited, turn } from "./audited-store.ts";
import { temporaryDirectory } from "./temporary.ts";

/** What someone with write access to the file, and without the key, does to sessions of five events each. */
interface Tampering {
  readonly what: string;
  readonly kind: string;
  readonly sessionId?: string;
  readonly seq?: number;
  readonly sql?: string;
  readonly work?: (database: DatabaseSync) => void;
}

const EVERYTHING_OF = (id: string): string =>
  ["events", "snapshots", "transcript_entries", "leases", "approvals"]
    .map((table) => `DELETE FROM ${table} WHERE session_id = '${id}';`)
    .join("") + `DELETE FROM sessions WHERE id = '${id}';`;

const TAMPERING: readonly Tampering[] = [
  {
    what: "a flipped bit in an event",
    kind: "altered",
    sessionId: "sesn_b",
    seq: 2,
    work: (database) => {
      const { event } = database.prepare("SELECT event FROM events WHERE session_id = 'sesn_b' AND seq = 2").get() as {
        event: string;
      };
      const bytes = Buffer.from(event);
      bytes[40] = (bytes[40] ?? 0) ^ 1;
      database
        .prepare("UPDATE events SET event = ? WHERE session_id = 'sesn_b' AND seq = 2")
        .run(bytes.toString("latin1"));
    },
  },
  {
    what: "a removed event",
    kind: "altered",
    sessionId: "sesn_b",
    seq: 3,
    sql: "DELETE FROM events WHERE session_id = 'sesn_b' AND seq = 3",
  },
  {
    what: "an inserted event",
    kind: "altered",
    sessionId: "sesn_b",
    seq: 6,
    sql: "INSERT INTO events SELECT session_id, 6, event, hash FROM events WHERE session_id = 'sesn_b' AND seq = 5",
  },
  {
    what: "an inserted event in a log that was hashed anew",
    kind: "altered",
    sessionId: "sesn_b",
    seq: 5,
    work: (database) => {
      const events = texts(database, "sesn_b");
      rewrite(database, "sesn_b", [...events.slice(0, 2), events[1] ?? "", ...events.slice(2)]);
    },
  },
  {
    what: "a log that was altered and fully hashed anew",
    kind: "altered",
    sessionId: "sesn_b",
    seq: 5,
    work: (database) =>
      rewrite(
        database,
        "sesn_b",
        texts(database, "sesn_b").map((text) => text.replace("message 1", "message 7")),
      ),
  },
  {
    what: "a log cut at its end together with its recorded length",
    kind: "truncated",
    sessionId: "sesn_b",
    seq: 4,
    work: (database) => rewrite(database, "sesn_b", texts(database, "sesn_b").slice(0, 3)),
  },
  {
    what: "an emptied log",
    kind: "truncated",
    sessionId: "sesn_b",
    seq: 1,
    work: (database) => rewrite(database, "sesn_b", []),
  },
  { what: "a removed session", kind: "missing", sessionId: "sesn_b", seq: 5, sql: EVERYTHING_OF("sesn_b") },
  {
    what: "a session put in from outside",
    kind: "altered",
    sessionId: "sesn_x",
    seq: 0,
    work: (database) => {
      database.exec(
        `INSERT INTO sessions (id, created_at, agent, cwd, head_seq, head_hash)
         SELECT 'sesn_x', created_at, agent, cwd, 0, '${genesisHash("sesn_x")}' FROM sessions WHERE id = 'sesn_a'`,
      );
      rewrite(database, "sesn_x", texts(database, "sesn_a"));
    },
  },
  {
    what: "events that were erased by hand",
    kind: "altered",
    sessionId: "sesn_b",
    seq: 1,
    sql: "UPDATE sessions SET deleted_at = 1 WHERE id = 'sesn_b'; UPDATE events SET event = '' WHERE session_id = 'sesn_b'",
  },
  {
    what: "an erased session that came back",
    kind: "altered",
    sessionId: "sesn_d",
    seq: 0,
    sql: "UPDATE sessions SET deleted_at = NULL WHERE id = 'sesn_d'",
  },
  {
    what: "a removed tombstone",
    kind: "missing",
    sessionId: "sesn_d",
    seq: 5,
    sql: EVERYTHING_OF("sesn_d"),
  },
  {
    what: "a removed session and its rows of the register",
    kind: "register",
    sql: `${EVERYTHING_OF("sesn_b")} DELETE FROM audit_seals WHERE session_id = 'sesn_b'`,
  },
  {
    what: "the last rows of the register removed",
    kind: "rolled_back",
    sql: "DELETE FROM audit_seals WHERE seq > (SELECT max(seq) - 2 FROM audit_seals)",
  },
  { what: "an emptied register", kind: "rolled_back", sql: "DELETE FROM audit_seals" },
  {
    what: "a row of the register altered",
    kind: "register",
    seq: 2,
    sql: "UPDATE audit_seals SET head_seq = 4 WHERE seq = 2",
  },
  {
    what: "a row of the register altered and hashed anew",
    kind: "register",
    seq: 2,
    work: (database) => {
      const row = database.prepare("SELECT * FROM audit_seals WHERE seq = 2").get() as Record<string, unknown>;
      const fields = ["seq", "at", "kind", "session_id", "head_seq", "head_hash", "note", "previous", "key_id"];
      const text = ["capstan seal", ...fields.map((field) => (field === "head_seq" ? 4 : row[field]))].join("\n");
      database.exec(`UPDATE audit_seals SET head_seq = 4, hash = '${hash("sha256", text)}' WHERE seq = 2`);
    },
  },
];

test.for(TAMPERING)("finds $what", async ({ kind, sessionId, seq, sql, work }) => {
  await using directory = await temporaryDirectory();
  const store = await fillStore(directory.path);
  expect(await store.verify()).toMatchObject({ sound: true, findings: [] });

  tamper(store, (database) => {
    if (sql !== undefined) database.exec(sql);
    work?.(database);
  });
  const { sound, findings, sessions } = await store.verify();
  expect(sound).toBe(false);
  expect(findings[0]).toMatchObject({
    kind,
    ...(sessionId !== undefined && { session_id: sessionId }),
    ...(seq !== undefined && { seq }),
    problem: expect.any(String) as string,
    remedy: expect.any(String) as string,
  });
  // The others are not blamed for it.
  for (const session of sessions)
    if (session.session_id !== (sessionId ?? session.session_id)) expect(session.status).toBe("ok");
  if (sessionId !== undefined) expect(await store.verify({ session: sessionId })).toMatchObject({ sound: false });
});

test("what is found stays found when the store is written to afterwards", async () => {
  await using directory = await temporaryDirectory();
  const store = await fillStore(directory.path);
  tamper(store, (database) => rewrite(database, "sesn_b", texts(database, "sesn_b").toReversed()));
  {
    await using open = await store.open();
    await turn(open, "sesn_b");
    await turn(open, "sesn_a");
  }
  expect((await store.verify()).findings).toMatchObject([{ kind: "altered", session_id: "sesn_b", seq: 5 }]);
});

test("a store that was put back to an earlier state is found, also after it was written to", async () => {
  await using directory = await temporaryDirectory();
  const store = await fillStore(directory.path);
  await copyFile(store.path, `${store.path}.old`);
  {
    await using open = await store.open();
    await turn(open, "sesn_a");
  }
  for (const suffix of ["-wal", "-shm"]) await rm(store.path + suffix, { force: true });
  await copyFile(`${store.path}.old`, store.path);
  expect((await store.verify()).findings).toMatchObject([{ kind: "rolled_back" }]);
  for (let round = 0; round < 3; round += 1) {
    await using open = await store.open();
    await turn(open, "sesn_c");
  }
  expect((await store.verify()).findings).toMatchObject([{ kind: "rolled_back" }]);
});

test("a store that was removed and made anew is found", async () => {
  await using directory = await temporaryDirectory();
  const store = await fillStore(directory.path);
  for (const suffix of ["", "-wal", "-shm"]) await rm(store.path + suffix, { force: true });
  {
    await using open = await store.open();
    await turn(open, "sesn_new");
  }
  expect((await store.verify()).findings).toMatchObject([{ kind: "rolled_back" }]);
});

/** Closed, with three sessions, one of which has two turns, and one that was deleted. */
async function fillStore(directory: string): Promise<Audited> {
  const store = openAudited(directory);
  await using open = await store.open();
  for (const id of ["sesn_a", "sesn_b", "sesn_c", "sesn_a"]) await turn(open, id);
  await open.deleteSession("sesn_d", await turn(open, "sesn_d"));
  return store;
}

function tamper({ path }: Audited, work: (database: DatabaseSync) => void): void {
  using database = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  work(database);
}

function texts(database: DatabaseSync, sessionId: string): string[] {
  const rows = database.prepare("SELECT event FROM events WHERE session_id = ? ORDER BY seq").all(sessionId);
  return rows.map((row) => String(row["event"]));
}

/** As a forger would who knows the formulas and has no key: every hash and the recorded end are right again. */
function rewrite(database: DatabaseSync, sessionId: string, events: readonly string[]): void {
  database.prepare("DELETE FROM events WHERE session_id = ?").run(sessionId);
  let previous = genesisHash(sessionId);
  for (const [index, text] of events.entries()) {
    previous = eventHash({ previous, sessionId, seq: index + 1, text });
    database.prepare("INSERT INTO events VALUES (?, ?, ?, ?)").run(sessionId, index + 1, text, previous);
  }
  database
    .prepare("UPDATE sessions SET head_seq = ?, head_hash = ? WHERE id = ?")
    .run(events.length, previous, sessionId);
}
