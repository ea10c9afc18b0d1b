import type { EventOf } from "../../../src/core/events/events.ts";
import type { Lease, SessionRecord, Store } from "../../../src/core/ports/store.ts";
import { example } from "../../support/event-examples.ts";
import { MINUTE, NOON, sampleAgent, sampleOwner, sampleSession } from "../samples.ts";

/** A session that spends; its events have ids of their own, as real ones do. */
export interface Spender {
  readonly lease: Lease;
  end(changes?: Partial<EventOf<"span.model_request_end">>): Promise<void>;
  append(...events: Parameters<Store["append"]>[1]["events"]): Promise<void>;
}

let made = 0;

export function uniqueId(): string {
  return `sevt_${String((made += 1)).padStart(8, "0")}`;
}

export async function spender(
  store: Store,
  id: string,
  {
    agent = "reviewer",
    host = "host_a",
    ...changes
  }: Partial<Omit<SessionRecord, "agent">> & { agent?: string; host?: string } = {},
): Promise<Spender> {
  await store.createSession(sampleSession(id, { agent: { ...sampleAgent, name: agent }, ...changes }));
  const lease = await store.leases.acquire(id, sampleOwner(host), MINUTE);
  const append: Spender["append"] = async (...events) => {
    await store.append(id, { after: await store.head(id), fence: lease.fence, events });
  };
  return {
    lease,
    append,
    end: (given = {}) =>
      append(
        example("span.model_request_end", { id: uniqueId(), processed_at: new Date(NOON).toISOString(), ...given }),
      ),
  };
}

export const tokens = (input: number, output: number, cacheRead = 0, cacheWrite = 0) => ({
  input_tokens: input,
  output_tokens: output,
  cache_read_input_tokens: cacheRead,
  cache_creation_input_tokens: cacheWrite,
});
