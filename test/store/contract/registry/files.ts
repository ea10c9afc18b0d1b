import { describe, expect, test } from "vitest";
import { fileRecord, OTHER_PROJECT, PROJECT } from "../../registry-samples.ts";
import { manualClock, MINUTE, NOON } from "../../samples.ts";
import type { Create } from "../under-test.ts";

export function fileTests(create: Create): void {
  describe("files", () => {
    test("are given back as they were stored, by any handle, and by their project alone", async () => {
      await using fresh = await create(manualClock());
      await using other = await fresh.another();
      const file = fileRecord("file_1", { filename: "../Ünï/\0code.md", sizeBytes: 2 ** 40, expiresAt: NOON + 1 });
      await fresh.store.registry.files.create(file);
      expect(await other.registry.files.get(PROJECT, "file_1", NOON)).toEqual(file);
      expect(await other.registry.files.get(PROJECT, "file_2", NOON)).toBeUndefined();
      expect(await other.registry.files.get(OTHER_PROJECT, "file_1", NOON)).toBeUndefined();
    });

    test("have ids of their own in all projects", async () => {
      await using fresh = await create(manualClock());
      const { files } = fresh.store.registry;
      await files.create(fileRecord("file_1"));
      for (const project of [PROJECT, OTHER_PROJECT])
        await expect(files.create(fileRecord("file_1", { project }))).rejects.toMatchObject({ code: "store_conflict" });
    });

    test("are not there any more from the moment they expire", async () => {
      await using fresh = await create(manualClock());
      const { files } = fresh.store.registry;
      const file = fileRecord("file_1", { expiresAt: NOON + MINUTE });
      await files.create(file);
      await files.create(fileRecord("file_2"));
      const seen = async (now: number) => ({
        one: (await files.get(PROJECT, "file_1", now))?.id,
        all: (await files.list(PROJECT, { limit: 9, now })).map(({ id }) => id),
        expired: (await files.listExpired(now)).map(({ id }) => id),
      });
      expect(await seen(NOON)).toEqual({ one: "file_1", all: ["file_2", "file_1"], expired: [] });
      expect(await seen(NOON + MINUTE - 1)).toEqual({ one: "file_1", all: ["file_2", "file_1"], expired: [] });
      expect(await seen(NOON + MINUTE)).toEqual({ one: undefined, all: ["file_2"], expired: ["file_1"] });
      expect(await files.listExpired(NOON + MINUTE)).toEqual([file]);
    });

    test("of all projects are among the expired until they are deleted", async () => {
      await using fresh = await create(manualClock());
      const { files } = fresh.store.registry;
      await files.create(fileRecord("file_1", { expiresAt: NOON + 2 }));
      await files.create(fileRecord("file_2", { expiresAt: NOON + 1, project: OTHER_PROJECT }));
      await files.create(fileRecord("file_3", { expiresAt: NOON + 9 }));
      const expired = async () => (await files.listExpired(NOON + 5)).map(({ id }) => id);
      expect(await expired()).toEqual(["file_2", "file_1"]);
      expect(await files.delete(OTHER_PROJECT, "file_2")).toBe(true);
      expect(await expired()).toEqual(["file_1"]);
    });

    test("are listed by their ids, in the order of the list", async () => {
      await using fresh = await create(manualClock());
      const { files } = fresh.store.registry;
      for (const id of ["file_1", "file_2", "file_3"]) await files.create(fileRecord(id));
      await files.create(fileRecord("file_4", { project: OTHER_PROJECT }));
      await files.create(fileRecord("file_5", { expiresAt: NOON }));
      const listed = async (...ids: readonly string[]) =>
        (await files.list(PROJECT, { limit: 2, now: NOON, ids })).map(({ id }) => id);
      expect(await listed("file_1", "file_3", "file_4", "file_5", "file_6")).toEqual(["file_3", "file_1"]);
      expect(await listed("file_1", "file_2", "file_3")).toEqual(["file_3", "file_2"]);
      expect(await listed()).toEqual([]);
    });

    test("are deleted by their project alone, and once", async () => {
      await using fresh = await create(manualClock());
      const { files } = fresh.store.registry;
      await files.create(fileRecord("file_1"));
      expect(await files.delete(OTHER_PROJECT, "file_1")).toBe(false);
      expect(await files.delete(PROJECT, "file_2")).toBe(false);
      expect(await files.get(PROJECT, "file_1", NOON)).toEqual(fileRecord("file_1"));
      expect(await files.delete(PROJECT, "file_1")).toBe(true);
      expect(await files.delete(PROJECT, "file_1")).toBe(false);
      expect(await files.get(PROJECT, "file_1", NOON)).toBeUndefined();
      await expect(files.create(fileRecord("file_1"))).rejects.toMatchObject({ code: "store_conflict" });
    });
  });
}
