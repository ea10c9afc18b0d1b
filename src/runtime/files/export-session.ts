import { CapstanError } from "../../core/errors.ts";
import type { SessionEvent } from "../../core/events/events.ts";
import { withoutSecrets } from "../../core/session/redaction-session.ts";
import { PLAIN_SESSION, type Store } from "../../core/ports/store.ts";

/** The version of the format of archives. */
export const FORMAT = 1;
/** Events per read and per append. */
export const PAGE = 500;

/** Lines without their ends. What is appended after the first line was given is left out. */
export async function* exportSession(store: Store, sessionId: string): AsyncGenerator<string> {
  let page = await archivePage(store, sessionId);
  for (;;) {
    yield* page.lines;
    if (page.next === undefined) return;
    page = await archivePage(store, sessionId, { from: page.next });
  }
}

interface ArchivePage {
  readonly lines: readonly string[];
  /** Where the next page begins, and the last event of all pages. Undefined after the last page. */
  readonly next: { readonly after: number; readonly head: number } | undefined;
}

/** A part of an archive: the header first, then so many events at a time. */
export async function archivePage(
  store: Store,
  sessionId: string,
  { from, limit = PAGE }: { readonly from?: NonNullable<ArchivePage["next"]>; readonly limit?: number } = {},
): Promise<ArchivePage> {
  if (from === undefined) return archiveHeader(store, sessionId);
  const { after, head } = from;
  const page = await store.events(sessionId, { after, upTo: head, limit });
  const last = page.at(-1);
  if (last === undefined)
    throw new CapstanError(
      "store_corrupt",
      `The log of session ${sessionId} ends at ${after}, not at ${head}: it was cut or deleted meanwhile. Verify the session.`,
      { data: { sessionId, after, head } },
    );
  const lines: string[] = [];
  for (const { seq, hash, event } of page) {
    lines.push(JSON.stringify({ seq, hash, event }));
    const output = outputOf(event);
    const content = output === undefined ? undefined : await store.toolOutputs.read(sessionId, output);
    // The audit reports one that is missing or was changed.
    if (content !== undefined) lines.push(JSON.stringify({ output, content: content.toString("base64") }));
  }
  return { lines, next: last.seq < head ? { after: last.seq, head } : undefined };
}

async function archiveHeader(store: Store, sessionId: string): Promise<ArchivePage> {
  const session = await store.session(sessionId);
  if (session === undefined)
    throw new CapstanError(
      "not_found",
      `There is no session ${sessionId} in this store. List the sessions to find it.`,
      { data: { sessionId } },
    );
  const head = await store.head(sessionId);
  // Ids of agents, environments and files say nothing to another store.
  const carried = {
    ...withoutSecrets(session),
    ...PLAIN_SESSION,
    metadata: session.metadata,
    ownProgram: session.ownProgram,
  };
  const lines = [JSON.stringify({ capstan: FORMAT, session: carried, head })];
  return { lines, next: head > 0 ? { after: 0, head } : undefined };
}

export function outputOf(event: SessionEvent): string | undefined {
  return "whole_output" in event ? event.whole_output?.hash : undefined;
}
