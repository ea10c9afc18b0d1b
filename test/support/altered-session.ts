import { join } from "node:path";
import { openStore } from "../../src/app/open-store.ts";
import { importArchive } from "../../src/app/record/session-files.ts";
import type { SessionEvent } from "../../src/core/events/events.ts";
import { eventHash, genesisHash } from "../../src/store/sqlite/audit/hash-chain.ts";
import type { Console } from "./console.ts";

interface Entry {
  readonly seq: number;
  readonly event: SessionEvent;
}

/**
 * A copy of a session whose events are changed, as somebody's archive brings it: `capstan sessions import` takes
 * whatever is whole, also what no agent of this server would ever have said. Gives its id.
 */
export async function alteredSession(
  { url, cookie, directory }: Pick<Console, "url" | "cookie" | "directory">,
  sessionId: string,
  change: (event: SessionEvent) => SessionEvent,
): Promise<string> {
  const exported = await fetch(`${url}/api/sessions/${sessionId}/export`, { headers: { cookie } });
  const [head = "", ...entries] = (await exported.text()).trimEnd().split("\n");
  let previous = genesisHash(sessionId);
  const lines = entries.map((line) => {
    const { seq, event } = JSON.parse(line) as Entry;
    const changed = change(event);
    previous = eventHash({ previous, sessionId, seq, text: JSON.stringify(changed) });
    return JSON.stringify({ seq, hash: previous, event: changed });
  });
  await using store = await openStore(join(directory, "..", "home"), {});
  return await importArchive(store, ReadableStream.from([head, ...lines]), { trust: true });
}
