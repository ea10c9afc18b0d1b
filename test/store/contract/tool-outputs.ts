import { describe, expect, test } from "vitest";
import { manualClock } from "../samples.ts";
import { type Create, drivenSession } from "./under-test.ts";

const NOWHERE = "0".repeat(64);

export function toolOutputTests(create: Create): void {
  describe("the whole output of a tool", () => {
    test("is read by its hash, in its own session only, and counted once", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      const content = Buffer.from("line\n".repeat(1_000));
      const { hash, bytes } = await fresh.store.toolOutputs.write("sesn_1", content);
      await fresh.store.toolOutputs.write("sesn_1", content);
      expect(bytes).toBe(5_000);
      for (const { toolOutputs } of [fresh.store, other]) {
        expect(await toolOutputs.read("sesn_1", hash)).toEqual(content);
        expect(await toolOutputs.check("sesn_1", hash)).toBe("intact");
        expect(await toolOutputs.size("sesn_1")).toBe(5_000);
        expect(await toolOutputs.read("sesn_2", hash)).toBeUndefined();
        expect(await toolOutputs.check("sesn_1", NOWHERE)).toBe("missing");
        expect(await toolOutputs.read("sesn_1", "../../capstan.db")).toBeUndefined();
      }
    });

    test("goes to a fork that needs it, and goes with its session", async () => {
      await using fresh = await create(manualClock());
      const { store } = fresh;
      const { fence } = await drivenSession(store, "sesn_1");
      const { hash } = await store.toolOutputs.write("sesn_1", Buffer.from("all"));
      const { hash: unused } = await store.toolOutputs.write("sesn_1", Buffer.from("of it"));
      await store.toolOutputs.copy("sesn_1", "sesn_2", [hash, NOWHERE]);
      await store.deleteSession("sesn_1", fence);
      expect(await store.toolOutputs.size("sesn_1")).toBe(0);
      expect((await store.toolOutputs.read("sesn_2", hash))?.toString()).toBe("all");
      expect(await store.toolOutputs.check("sesn_2", unused)).toBe("missing");
    });
  });
}
