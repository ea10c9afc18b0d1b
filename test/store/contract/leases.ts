import { describe, expect, test } from "vitest";
import { manualClock, MINUTE, sampleMessages, sampleOwner } from "../samples.ts";
import { type Create, withSession } from "./under-test.ts";

export function leaseTests(create: Create): void {
  describe("leases", () => {
    test("let one host at a time drive a session, and name it to the others", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      await withSession(fresh.store);
      await fresh.store.leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
      const refused = other.leases.acquire("sesn_1", sampleOwner("host_b"), MINUTE);
      await expect(refused).rejects.toMatchObject({
        code: "session_busy",
        message: expect.stringMatching(/sesn_1.*4711.*build-7.*host_a.*end that process/),
        data: { holder: sampleOwner("host_a") },
        retryable: true,
      });
      expect(await other.leases.holder("sesn_1")).toEqual(sampleOwner("host_a"));
    });

    test("are acquired again by their own host", async () => {
      const clock = manualClock();
      await using fresh = await create(clock);
      const { leases } = await withSession(fresh.store);
      const first = await leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
      clock.advance(MINUTE / 2);
      expect(await leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE)).toEqual(first);
      clock.advance(MINUTE - 1);
      expect(await leases.holder("sesn_1")).toEqual(sampleOwner("host_a"));
    });

    test("go to another host with a higher fence once they expired", async () => {
      const clock = manualClock();
      await using fresh = await create(clock);
      const { leases } = await withSession(fresh.store);
      const first = await leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
      clock.advance(MINUTE);
      expect(await leases.holder("sesn_1")).toBeUndefined();
      const second = await leases.acquire("sesn_1", sampleOwner("host_b"), MINUTE);
      expect(second.fence).toBeGreaterThan(first.fence);
      await expect(leases.renew(first, MINUTE)).rejects.toMatchObject({ code: "lease_lost" });
      expect(await leases.holder("sesn_1")).toEqual(sampleOwner("host_b"));
    });

    test("live on when they are renewed", async () => {
      const clock = manualClock();
      await using fresh = await create(clock);
      const { leases } = await withSession(fresh.store);
      const lease = await leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
      clock.advance(MINUTE - 1);
      await leases.renew(lease, MINUTE);
      clock.advance(MINUTE - 1);
      expect(await leases.holder("sesn_1")).toEqual(sampleOwner("host_a"));
      clock.advance(MINUTE);
      await leases.renew(lease, MINUTE);
      expect(await leases.holder("sesn_1")).toEqual(sampleOwner("host_a"));
    });

    test("are free for anyone after release, with a higher fence", async () => {
      await using fresh = await create(manualClock());
      const { leases } = await withSession(fresh.store);
      let last = 0;
      for (const hostId of ["host_a", "host_a", "host_b", "host_a"]) {
        const lease = await leases.acquire("sesn_1", sampleOwner(hostId), MINUTE);
        expect(lease.fence).toBeGreaterThan(last);
        last = lease.fence;
        await leases.release(lease);
        expect(await leases.holder("sesn_1")).toBeUndefined();
        await expect(leases.renew(lease, MINUTE)).rejects.toMatchObject({ code: "lease_lost" });
      }
    });

    test("end when their host is evicted, and only then", async () => {
      await using fresh = await create(manualClock());
      const { leases } = await withSession(fresh.store);
      const lease = await leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
      await leases.evict("sesn_1", "host_b");
      expect(await leases.holder("sesn_1")).toEqual(sampleOwner("host_a"));
      await leases.evict("sesn_1", "host_a");
      expect(await leases.holder("sesn_1")).toBeUndefined();
      await expect(leases.renew(lease, MINUTE)).rejects.toMatchObject({ code: "lease_lost" });
      const batch = { after: 0, fence: lease.fence, events: sampleMessages(1) };
      await expect(fresh.store.append("sesn_1", batch)).rejects.toMatchObject({ code: "lease_lost" });
      const next = await leases.acquire("sesn_1", sampleOwner("host_b"), MINUTE);
      expect(next.fence).toBeGreaterThan(lease.fence);
    });

    test("stay with their new holder when a former one releases", async () => {
      const clock = manualClock();
      await using fresh = await create(clock);
      const { leases } = await withSession(fresh.store);
      const former = await leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
      clock.advance(MINUTE);
      const current = await leases.acquire("sesn_1", sampleOwner("host_b"), MINUTE);
      await leases.release(former);
      await leases.renew(current, MINUTE);
      expect(await leases.holder("sesn_1")).toEqual(sampleOwner("host_b"));
    });
  });
}
