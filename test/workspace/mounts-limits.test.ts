import { truncateSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { CopyProgress } from "../../src/core/ports/workspace.ts";
import { failureOf, filesOf, site, treeOf, write } from "./support.ts";

const GIBIBYTE = 1024 ** 3;

test("a file of 5 GB meets the limit of the whole workspace before anything is copied", async () => {
  using machine = site();
  write(machine.source, { "huge.bin": "", "small.txt": "s" });
  // It takes up nothing on this disk, but a copy of it would.
  truncateSync(join(machine.source, "huge.bin"), 5 * GIBIBYTE);
  const failure = await failureOf(
    machine.workspaces.prepare(machine.request({ kind: "copy", mounts: [{ source: "." }] })),
  );
  expect(failure).toMatchObject({ code: "workspace_invalid", data: { limit: "environment.workspace.max_bytes" } });
  expect(failure.message).toContain("more than 1,073,741,824 bytes");
  expect(failure.message).toContain("Raise environment.workspace.max_bytes, or leave something out with");
  expect(treeOf(machine.root)).toEqual({});
});

const MANY = Array.from({ length: 12 }, (_, index) => `d${index % 3}/${index}.txt`);

test("more files than allowed end the count, and the message names the mount, the limit and the field", async () => {
  using machine = site();
  write(machine.source, Object.fromEntries(MANY.map((path) => [path, "1234567890"])));
  write(machine.source, { "other/a.txt": "a" });
  const mounts = [
    { source: "other" },
    { source: ".", target: "all", exclude: ["other"], max_files: 8, max_bytes: 1_000 },
  ];
  const own = await failureOf(machine.workspaces.prepare(machine.request({ kind: "copy", mounts })));
  expect(own.message).toMatch(/^Mount 2 \(.*project\) contains more than 8 files: the count stopped at 9 files/);
  expect(own.data).toMatchObject({ limit: "environment.workspace.mounts[1].max_files", max: 8 });
  const bytes = { source: ".", max_bytes: 115 };
  const large = await failureOf(machine.workspaces.prepare(machine.request({ kind: "copy", mounts: [bytes] })));
  expect(large.message).toMatch(
    /^Mount 1 .* contains more than 115 bytes: .* Raise environment\.workspace\.mounts\[0\]\.max_bytes/,
  );
  const halves = MANY.map((source, index) => ({ source, target: `${index}` }));
  const total = await failureOf(
    machine.workspaces.prepare(machine.request({ kind: "copy", mounts: halves, max_files: 11 })),
  );
  expect(total.message).toMatch(/^The workspace contains more than 11 files/);
  expect(treeOf(machine.root)).toEqual({});
});

test("exactly as much as allowed is copied", async () => {
  using machine = site();
  write(machine.source, Object.fromEntries(MANY.map((path) => [path, "1234567890"])));
  const mount = { source: ".", target: ".", max_files: 12, max_bytes: 120 };
  const request = machine.request({ kind: "copy", mounts: [mount], max_files: 12, max_bytes: 120 });
  const made = await machine.workspaces.prepare(request);
  expect(filesOf(made.cwd)).toEqual(MANY.toSorted());
  expect(made.mounts).toMatchObject([{ files: 12, bytes: 120 }]);
});

test("progress is told with its totals, not for every file, and at the end", async () => {
  using machine = site();
  const names = Array.from({ length: 500 }, (_, index) => `${index}.txt`);
  write(machine.source, Object.fromEntries(names.map((name) => [name, "12345"])));
  const told: CopyProgress[] = [];
  await machine.workspaces.prepare(machine.request({ kind: "copy", mounts: [{ source: "." }] }), {
    onProgress: (progress) => told.push(progress),
  });
  expect(told.at(-1)).toEqual({ files: 500, bytes: 2_500, totalFiles: 500, totalBytes: 2_500 });
  expect(told.length).toBeLessThan(names.length);
  expect(told.map(({ bytes }) => bytes)).toEqual(told.map(({ bytes }) => bytes).toSorted((a, b) => a - b));
});

test("a copy that is interrupted while it runs leaves nothing", async () => {
  using machine = site();
  for (const name of ["one", "two"]) {
    write(machine.source, { [name]: "" });
    truncateSync(join(machine.source, name), 400 * 1024 ** 2);
  }
  const controller = new AbortController();
  const work = machine.workspaces.prepare(machine.request({ kind: "copy", mounts: [{ source: "." }] }), {
    signal: controller.signal,
    onProgress: () => controller.abort(),
  });
  expect(await failureOf(work)).toMatchObject({
    code: "workspace_failed",
    message: expect.stringContaining("interrupted"),
  });
  expect(treeOf(machine.root)).toEqual({});
});
