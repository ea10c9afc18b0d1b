import type { Clock } from "../../../src/core/ports/clock.ts";
import type { Lease, SessionRecord, Store, TranscriptEntry } from "../../../src/core/ports/store.ts";
import { MINUTE, NOON, sampleOwner, sampleSession } from "../samples.ts";

export interface StoreUnderTest extends AsyncDisposable {
  /** Fresh and empty. */
  readonly store: Store;
  /** Another handle on the same data, as a second process would have it. Whoever asks for it closes it. */
  another(): Promise<Store>;
}

export type Create = (clock: Clock) => Promise<StoreUnderTest>;

/** What a session has that was made from records of the registry. */
export const MADE_FROM: Partial<SessionRecord> = {
  metadata: { ticket: "SHOP-7", "": "ü" },
  agentRef: { id: "agent_1", version: 3 },
  environmentId: "env_1",
  resources: [
    { id: "sesrsc_1", type: "file", fileId: "file_1", mountPath: "data/notes.md", createdAt: NOON },
    {
      id: "sesrsc_2",
      type: "repository",
      url: "https://example.com/shop.git",
      checkout: { type: "branch", name: "main" },
      mountPath: "shop",
      createdAt: NOON + 1,
    },
    {
      id: "sesrsc_3",
      type: "repository",
      url: "https://example.com/till.git",
      checkout: null,
      mountPath: "till",
      createdAt: NOON + 2,
    },
  ],
  archivedAt: NOON + MINUTE,
};

export async function withSession(store: Store): Promise<Store> {
  await store.createSession(sampleSession("sesn_1"));
  return store;
}

export async function drivenSession(store: Store, id: string): Promise<Lease> {
  await store.createSession(sampleSession(id));
  return store.leases.acquire(id, sampleOwner("host_a"), MINUTE);
}

export function entry(uuid: string, version: number): TranscriptEntry {
  return { type: "user", uuid, message: { role: "user", content: [{ type: "text", text: "hi", version }] } };
}
