import type { Clock } from "../../../src/core/clock.ts";
import type { Lease, Store, TranscriptEntry } from "../../../src/core/store.ts";
import { MINUTE, sampleOwner, sampleSession } from "../samples.ts";

export interface StoreUnderTest extends AsyncDisposable {
  /** Fresh and empty. */
  readonly store: Store;
  /** Another handle on the same data, as a second process would have it. Whoever asks for it closes it. */
  another(): Promise<Store>;
}

export type Create = (clock: Clock) => Promise<StoreUnderTest>;

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
