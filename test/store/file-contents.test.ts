import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ids } from "../../src/app/clock.ts";
import { fileContentsIn } from "../../src/store/disk/file-contents.ts";
import { temporaryDirectory, type TemporaryDirectory } from "./temporary.ts";

const MEBIBYTE = 1_048_576;
const DAY_MS = 24 * 60 * 60 * 1000;

test("gives back what was written, in as many pieces as it came in", async () => {
  await using directory = await temporaryDirectory();
  const contents = fileContentsIn(filesIn(directory));
  for (const sizes of [[], [0], [1], [3, 0, 70_000, 1], [300_000, 300_000]]) {
    const id = ids.next("file");
    const pieces = sizes.map((size) => randomBytes(size));
    const whole = Buffer.concat(pieces);
    expect(await contents.write(id, streamOf(pieces), MEBIBYTE)).toEqual({ sizeBytes: whole.length });
    expect(await bytesOf(await contents.read(id))).toEqual(whole);
    expect(await readFile(contents.path(id))).toEqual(whole);
  }
});

test("keeps the directory and the files private", async () => {
  await using directory = await temporaryDirectory();
  const contents = fileContentsIn(filesIn(directory));
  const id = ids.next("file");
  await contents.write(id, streamOf(["secret"]), MEBIBYTE);
  expect((await stat(filesIn(directory))).mode & 0o777).toBe(0o700);
  expect((await stat(contents.path(id))).mode & 0o777).toBe(0o600);
  expect(await readdir(filesIn(directory))).toEqual([id]);
});

test("takes a file of just the largest size, and not a byte more", async () => {
  await using directory = await temporaryDirectory();
  const contents = fileContentsIn(filesIn(directory));
  const id = ids.next("file");
  expect(await contents.write(id, streamOf(["12", "345"]), 5)).toEqual({ sizeBytes: 5 });
  const larger = ids.next("file");
  await expect(contents.write(larger, streamOf(["12", "3456"]), 5)).rejects.toMatchObject({
    code: "too_large",
    message: expect.stringMatching(/more than 5 bytes.*Send a smaller one/),
    data: { maxBytes: 5 },
  });
  expect(await readdir(filesIn(directory))).toEqual([id]);
});

test("stops reading a file that is too large", async () => {
  await using directory = await temporaryDirectory();
  const contents = fileContentsIn(filesIn(directory));
  let given = 0;
  let cancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      given += 1000;
      controller.enqueue(new Uint8Array(1000));
    },
    cancel() {
      cancelled = true;
    },
  });
  await expect(contents.write(ids.next("file"), endless, 10_000)).rejects.toMatchObject({ code: "too_large" });
  expect(cancelled).toBe(true);
  expect(given).toBeLessThan(20_000);
});

test("keeps nothing of a file whose sender fails, and says what the sender said", async () => {
  await using directory = await temporaryDirectory();
  const contents = fileContentsIn(filesIn(directory));
  const id = ids.next("file");
  const broken = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from("half")),
    pull: () => Promise.reject(new Error("the connection is gone")),
  });
  await expect(contents.write(id, broken, MEBIBYTE)).rejects.toThrow("the connection is gone");
  expect(await readdir(filesIn(directory))).toEqual([]);
  await expect(contents.read(id)).rejects.toMatchObject({ code: "not_found" });
});

test("shows no file before it is whole", async () => {
  await using directory = await temporaryDirectory();
  const contents = fileContentsIn(filesIn(directory));
  const id = ids.next("file");
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writing = contents.write(id, readable, MEBIBYTE);
  const sender = writable.getWriter();
  // A second piece is taken when the first one is written.
  for (const piece of ["first", "second"]) await sender.write(Buffer.from(piece));
  expect(existsSync(contents.path(id))).toBe(false);
  await sender.close();
  await writing;
  expect(await readFile(contents.path(id), "utf8")).toBe("firstsecond");
});

test.each([
  "",
  "file_",
  "../secret",
  "file_../../../../../../etc/passwd",
  `file_${"a".repeat(31)}`,
  `file_${"a".repeat(33)}`,
  `file_${"A".repeat(32)}`,
  `file_${"a".repeat(32)}\n`,
  `file_${"a".repeat(32)}/..`,
  `/file_${"a".repeat(32)}`,
  `file_${"a".repeat(32)}\0`,
])("touches nothing for the id %j", async (id) => {
  await using directory = await temporaryDirectory();
  await writeFile(join(directory.path, "secret"), "keep out");
  const contents = fileContentsIn(filesIn(directory));
  const refused = { code: "invalid_input", message: expect.stringContaining("32 hex digits") };
  expect(() => contents.path(id)).toThrow(expect.objectContaining(refused));
  await expect(contents.write(id, streamOf(["x"]), MEBIBYTE)).rejects.toMatchObject(refused);
  await expect(contents.read(id)).rejects.toMatchObject(refused);
  await expect(contents.remove(id)).rejects.toMatchObject(refused);
  expect(await readdir(directory.path)).toEqual(["secret"]);
});

test("removes a file, and nothing when there is none", async () => {
  await using directory = await temporaryDirectory();
  const contents = fileContentsIn(filesIn(directory));
  const [id, other] = [ids.next("file"), ids.next("file")];
  await contents.remove(id);
  for (const each of [id, other]) await contents.write(each, streamOf([each]), MEBIBYTE);
  await contents.remove(id);
  await contents.remove(id);
  await expect(contents.read(id)).rejects.toMatchObject({
    code: "not_found",
    message: expect.stringMatching(new RegExp(`${id}.*Upload it again`)),
  });
  expect(await bytesOf(await contents.read(other))).toEqual(Buffer.from(other));
});

test("whoever began to read a file reads it to its end, also when it is removed meanwhile", async () => {
  await using directory = await temporaryDirectory();
  const contents = fileContentsIn(filesIn(directory));
  const id = ids.next("file");
  const whole = randomBytes(MEBIBYTE);
  await contents.write(id, streamOf([whole]), MEBIBYTE);
  const reading = await contents.read(id);
  await contents.remove(id);
  expect(await bytesOf(reading)).toEqual(whole);
});

test("removes what a killed process left of an upload, and not what another is uploading", async () => {
  await using directory = await temporaryDirectory();
  const files = filesIn(directory);
  await mkdir(files);
  const kept = ids.next("file");
  const [left, uploading] = [`${kept}.left.part`, `${kept}.uploading.part`];
  for (const name of [kept, left, uploading]) await writeFile(join(files, name), name);
  const before = new Date(Date.now() - 2 * DAY_MS);
  for (const name of [kept, left]) await utimes(join(files, name), before, before);
  const id = ids.next("file");
  await fileContentsIn(files).write(id, streamOf(["x"]), MEBIBYTE);
  expect((await readdir(files)).toSorted()).toEqual([kept, uploading, id].toSorted());
});

test("names a place that cannot be used, and the next step", async () => {
  await using directory = await temporaryDirectory();
  const files = join(directory.path, "taken");
  await writeFile(files, "a file, not a directory");
  await expect(fileContentsIn(files).write(ids.next("file"), streamOf(["x"]), MEBIBYTE)).rejects.toMatchObject({
    code: "store_failed",
    message: expect.stringMatching(/taken cannot be used.*permission/),
  });
});

function filesIn(directory: TemporaryDirectory): string {
  return join(directory.path, "files");
}

function streamOf(pieces: readonly (string | Uint8Array)[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(typeof piece === "string" ? Buffer.from(piece) : piece);
      controller.close();
    },
  });
}

async function bytesOf(stream: ReadableStream<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(stream));
}
