import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { writeWholeStream } from "../../src/cli/terminal/write-file.ts";
import { temporaryDirectory } from "../support/host.ts";

async function* pieces(onSecond: () => void): AsyncGenerator<string> {
  yield "one\n";
  onSecond();
  yield "two\n";
}

test("a file has its name only when it is whole", async () => {
  using directory = temporaryDirectory();
  const file = join(directory.path, "out.jsonl");
  await writeWholeStream(
    file,
    pieces(() => expect(existsSync(file)).toBe(false)),
  );
  expect(readFileSync(file, "utf8")).toBe("one\ntwo\n");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(directory.path)).toEqual(["out.jsonl"]);
});

test("what fails half-way leaves nothing, and what is there stays", async () => {
  using directory = temporaryDirectory();
  const file = join(directory.path, "out.jsonl");
  const failing = pieces(() => {
    throw new Error("gone");
  });
  await expect(writeWholeStream(file, failing)).rejects.toThrow("gone");
  expect(readdirSync(directory.path)).toEqual([]);
  const late = pieces(() => writeFileSync(file, "of another"));
  await expect(writeWholeStream(file, late)).rejects.toMatchObject({ code: "EEXIST" });
  expect(readdirSync(directory.path)).toEqual(["out.jsonl"]);
  expect(readFileSync(file, "utf8")).toBe("of another");
});
