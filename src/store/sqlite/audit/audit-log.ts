import type { AuditKey } from "../../../core/session/audit.ts";
import type { Clock } from "../../../core/ports/clock.ts";
import { CapstanError } from "../../../core/errors.ts";
import type { SessionEvent } from "../../../core/events/events.ts";
import { type Head, openRegister } from "./audit-register.ts";
import type { Database } from "../file/database.ts";

/** A log is signed at the end of every turn, and at the latest after this many events or this long. */
const EVENTS = 500;
const SIGN_AFTER_MS = 2_000;

const TURN_ENDS: ReadonlySet<SessionEvent["type"]> = new Set<SessionEvent["type"]>([
  "session.status_idle",
  "session.status_terminated",
]);

/** Decides when heads are signed. What it does inside the caller's transaction is saved with it or not at all. */
export interface AuditLog {
  /** Inside the transaction that creates the session. */
  recordCreated(sessionId: string, head: Head): void;
  /** Inside the transaction that appends; `true` if the new head was signed. */
  appending(sessionId: string, batch: { from: number; head: Head; events: readonly SessionEvent[] }): boolean;
  /** After that transaction. */
  recordAppended(sessionId: string, batch: { from: number; head: Head; signed: boolean }): void;
  /** Inside the transaction that erases. `note` is signed in addition to the session's head. */
  recordDeleted(sessionId: string, head: Head, note: string): void;
  /** Signs the rest. Never throws: a verification reports what stays unsigned. */
  close(): void;
}

/** For a store without a key. */
const NO_AUDIT: AuditLog = {
  recordCreated() {},
  appending: () => false,
  recordAppended() {},
  recordDeleted() {},
  close() {},
};

export function auditLog(
  database: Database,
  { clock, key }: { readonly clock: Clock; readonly key: AuditKey | undefined },
): AuditLog {
  if (key === undefined) return NO_AUDIT;
  const register = openRegister(database, { clock, key });
  /** What this process appended and is not signed yet. Signs from memory, not from the file's current content. */
  const unsigned = new Map<string, Head>();
  const signedUpTo = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let anchorIsBehind = false;

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    if (unsigned.size > 0)
      database.write(() => {
        for (const [sessionId, head] of unsigned) register.sign("head", sessionId, head);
      });
    for (const [sessionId, { seq }] of unsigned) signedUpTo.set(sessionId, seq);
    anchorIsBehind ||= unsigned.size > 0;
    unsigned.clear();
    if (anchorIsBehind) register.moveAnchor();
    anchorIsBehind = false;
  }

  function flushQuietly(): void {
    try {
      flush();
    } catch (thrown) {
      if (!(thrown instanceof CapstanError)) throw thrown;
    }
  }

  function flushLater(): void {
    timer ??= setTimeout(flushQuietly, SIGN_AFTER_MS).unref();
  }

  function sign(kind: "created" | "head" | "deleted", sessionId: string, head: Head, note = ""): void {
    register.sign(kind, sessionId, head, note);
    // If the transaction fails, there is just nothing to do later.
    anchorIsBehind = true;
    flushLater();
  }

  return {
    recordCreated: (sessionId, head) => sign("created", sessionId, head),

    appending(sessionId, { from, head, events }) {
      const isDue =
        head.seq - (signedUpTo.get(sessionId) ?? from) >= EVENTS || events.some(({ type }) => TURN_ENDS.has(type));
      if (isDue) sign("head", sessionId, head);
      return isDue;
    },

    recordAppended(sessionId, { from, head, signed }) {
      if (signed) unsigned.delete(sessionId);
      else unsigned.set(sessionId, head);
      if (signed) signedUpTo.set(sessionId, head.seq);
      else if (!signedUpTo.has(sessionId)) signedUpTo.set(sessionId, from);
      flushLater();
    },

    recordDeleted(sessionId, head, note) {
      sign("deleted", sessionId, head, note);
      unsigned.delete(sessionId);
      signedUpTo.delete(sessionId);
    },

    close: flushQuietly,
  };
}
