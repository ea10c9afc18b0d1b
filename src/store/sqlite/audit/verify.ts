import { setImmediate as nextTick } from "node:timers/promises";
import type { ChainCheck, Store } from "../../../core/ports/store.ts";
import type { Database } from "../file/database.ts";
import { ERASED } from "../sessions/erase.ts";
import { type EventRow, SELECT_EVENTS } from "../sessions/events.ts";
import { eventHash, genesisHash } from "./hash-chain.ts";
import { unknownSession } from "../sessions/sessions.ts";

/** Other work runs after this many events. */
const PAGE = 1_000;

interface RecordedEnd {
  readonly head_seq: number;
  readonly head_hash: string;
  readonly last_seq: number;
  readonly deleted_at: number | null;
}

const SHA256 = /^[0-9a-f]{64}$/;

export function chainVerifier(database: Database): Pick<Store, "verify"> {
  // One statement sees one state of the file, even while another process appends.
  const selectEnd = database.prepare(
    `SELECT head_seq, head_hash, deleted_at, (SELECT coalesce(max(seq), 0) FROM events WHERE session_id = id) AS last_seq
     FROM sessions WHERE id = ?`,
  );
  const selectPage = database.prepare(SELECT_EVENTS);

  return {
    async verify(sessionId) {
      const end = database.read(() => selectEnd.get<RecordedEnd>(sessionId));
      if (end === undefined) throw unknownSession(sessionId);

      let seq = 0;
      let previous = genesisHash(sessionId);
      while (seq < end.head_seq) {
        const rows = database.read(() => selectPage.all<EventRow>(sessionId, seq, end.head_seq, PAGE));
        for (const row of rows) {
          if (row.seq !== seq + 1) return brokenChain(seq + 1, "the event is missing");
          const problem = end.deleted_at === null ? mismatch({ previous, sessionId, row }) : notErased(row);
          if (problem !== undefined) return brokenChain(row.seq, problem);
          seq = row.seq;
          previous = row.hash;
        }
        if (rows.length === 0)
          return brokenChain(seq + 1, `the log was truncated: the session recorded ${end.head_seq} events`);
        await nextTick();
      }
      if (previous !== end.head_hash)
        return brokenChain(seq, "the log does not end with the hash that the session recorded");
      if (end.last_seq > seq) return brokenChain(seq + 1, "the event comes after the end that the session recorded");
      return { ok: true, events: seq, ...(end.deleted_at !== null && { erased: true }) };
    },
  };
}

function mismatch({ previous, sessionId, row }: { previous: string; sessionId: string; row: EventRow }) {
  const hash = eventHash({ previous, sessionId, seq: row.seq, text: row.event });
  return hash === row.hash ? undefined : "the event does not match its hash: it was altered, inserted or moved";
}

/** A deleted session still has its hashes; without the events, only the last one can be compared. */
function notErased({ event, hash }: EventRow): string | undefined {
  if (event !== ERASED) return "the event was inserted into a session that was erased";
  return SHA256.test(hash) ? undefined : "the hash of the erased event was altered";
}

function brokenChain(seq: number, problem: string): ChainCheck {
  return { ok: false, seq, problem };
}
