import { describe, expect, test } from "vitest";
import type { Store } from "../../../src/core/ports/store.ts";
import { manualClock, MINUTE, sampleOwner, sampleSession } from "../samples.ts";
import type { Create } from "./under-test.ts";

async function withSessions(store: Store, ids: readonly string[]): Promise<Store["claims"]> {
  for (const id of ids) await store.createSession(sampleSession(id));
  return store.claims;
}

export function claimTests(create: Create): void {
  describe("claims", () => {
    test.each(["/srv/shop", "/srv", "/", "/srv/shop/till/a"])(
      "on /srv/shop and on %s exclude each other, whoever asks",
      async (path) => {
        await using fresh = await create(manualClock());
        await using other = await fresh.another();
        const claims = await withSessions(fresh.store, ["sesn_1", "sesn_2"]);
        expect(await claims.claim("sesn_1", "/srv/shop")).toBeUndefined();
        for (const store of [fresh.store, other]) expect(await store.claims.claim("sesn_2", path)).toBe("sesn_1");
      },
    );

    test.each(["/srv/shopping", "/srv/sho", "/srv/other", "/home/shop", "/srv/shop%", "/srv/Shop"])(
      "on /srv/shop and on %s have nothing to do with each other",
      async (path) => {
        await using fresh = await create(manualClock());
        const claims = await withSessions(fresh.store, ["sesn_1", "sesn_2"]);
        await claims.claim("sesn_1", "/srv/shop");
        expect(await claims.claim("sesn_2", path)).toBeUndefined();
      },
    );

    test("that were refused are not there", async () => {
      await using fresh = await create(manualClock());
      const claims = await withSessions(fresh.store, ["sesn_1", "sesn_2", "sesn_3"]);
      await claims.claim("sesn_1", "/srv/shop/till");
      await claims.claim("sesn_2", "/srv");
      expect(await claims.claim("sesn_3", "/srv/other")).toBeUndefined();
    });

    test("of a session replace each other", async () => {
      await using fresh = await create(manualClock());
      const claims = await withSessions(fresh.store, ["sesn_1", "sesn_2"]);
      expect(await claims.claim("sesn_1", "/srv/shop")).toBeUndefined();
      expect(await claims.claim("sesn_1", "/srv/shop")).toBeUndefined();
      expect(await claims.claim("sesn_1", "/srv/other")).toBeUndefined();
      expect(await claims.claim("sesn_2", "/srv/shop")).toBeUndefined();
    });

    test("end when they are released, and no others with them", async () => {
      await using fresh = await create(manualClock());
      const claims = await withSessions(fresh.store, ["sesn_1", "sesn_2", "sesn_3"]);
      await claims.claim("sesn_1", "/srv/shop");
      await claims.claim("sesn_2", "/srv/other");
      await claims.release("sesn_1");
      await claims.release("sesn_1");
      expect(await claims.claim("sesn_3", "/srv/shop")).toBeUndefined();
      expect(await claims.claim("sesn_3", "/srv/other")).toBe("sesn_2");
    });

    test("end with the session that has them", async () => {
      await using fresh = await create(manualClock());
      const claims = await withSessions(fresh.store, ["sesn_1", "sesn_2"]);
      const { fence } = await fresh.store.leases.acquire("sesn_1", sampleOwner("host_a"), MINUTE);
      await claims.claim("sesn_1", "/srv/shop");
      await fresh.store.deleteSession("sesn_1", fence);
      expect(await claims.claim("sesn_2", "/srv/shop")).toBeUndefined();
      await expect(claims.claim("sesn_1", "/srv/other")).rejects.toMatchObject({ code: "not_found" });
      await claims.release("sesn_1");
    });

    test("need a session", async () => {
      await using fresh = await create(manualClock());
      await expect(fresh.store.claims.claim("sesn_1", "/srv")).rejects.toMatchObject({ code: "not_found" });
    });
  });
}
