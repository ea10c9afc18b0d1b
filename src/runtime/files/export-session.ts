import { CapstanError } from "../../core/errors.ts";
import type { SessionEvent } from "../../core/events/events.ts";
import { withoutSecrets } from "../../core/session/redaction-session.ts";
import { PLAIN_SESSION, type Store } from "../../core/ports/store.ts";

/** The version of the archive format. */
export const FORMAT = 1;
/** Events per read and per append. */
export const PAGE = 500;

/** Yields lines without line endings. Leaves out events appended after the first line was read. */
export async function* exportSession(store: Store, sessionId: string): AsyncGenerator<string> {
  let page = await readArchivePage(store, sessionId);
  for (;;) {
    yield* page.lines;
    if (page.next === undefined) return;
    page = await readArchivePage(store, sessionId, { from: page.next });
  }
}

interface ArchivePage {
  readonly lines: readonly string[];
  /** The start of the next page and the last event of all pages. Undefined after the last page. */
  readonly next: { readonly after: number; readonly head: number } | undefined;
}

/** Returns one page of an archive: the header, then a fixed number of events at a time. */
export async function readArchivePage(
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
      `The log of session ${sessionId} ends at ${after} instead of ${head}: it was cut or deleted during the export. Run capstan audit verify.`,
      { data: { sessionId, after, head } },
    );
  const lines: string[] = [];
  for (const { seq, hash, event } of page) {
    lines.push(JSON.stringify({ seq, hash, event }));
    const output = outputOf(event);
    const content = output === undefined ? undefined : await store.toolOutputs.read(sessionId, output);
    // The audit reports missing and changed outputs.
    if (content !== undefined) lines.push(JSON.stringify({ output, content: content.toString("base64") }));
  }
  return { lines, next: last.seq < head ? { after: last.seq, head } : undefined };
}

async function archiveHeader(store: Store, sessionId: string): Promise<ArchivePage> {
  const session = await store.session(sessionId);
  if (session === undefined)
    throw new CapstanError(
      "not_found",
      `Session ${sessionId} was not found in this store. List the sessions to find its id.`,
      { data: { sessionId } },
    );
  const head = await store.head(sessionId);
  // Ids of agents, environments and files have no meaning in another store.
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
