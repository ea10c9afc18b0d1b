import { readArchivePage as pageOf } from "../../../runtime/files/export-session.ts";
import { openReader } from "../../open-store.ts";
import type { HeavyContext } from "../jobs.ts";

/** Few enough to keep one page small, whatever its events contain. */
const EVENTS = 200;

/** Returns one page of a session's archive and where the next begins; without `from`, the first. */
export async function archivePage(
  { home }: HeavyContext,
  {
    sessionId,
    from,
  }: { readonly sessionId: string; readonly from?: { readonly after: number; readonly head: number } },
): Promise<{
  readonly bytes: Uint8Array;
  readonly next: { readonly after: number; readonly head: number } | undefined;
}> {
  await using store = openReader(home);
  const { lines, next } = await pageOf(store, sessionId, { ...(from !== undefined && { from }), limit: EVENTS });
  return { bytes: new TextEncoder().encode(lines.map((line) => `${line}\n`).join("")), next };
}
