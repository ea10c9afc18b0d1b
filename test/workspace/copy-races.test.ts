import {
  appendFileSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { copyFile } from "../../src/workspace/file-copy.ts";
import { FileChanged, openSeen, see, type SeenFile } from "../../src/workspace/seen-file.ts";
import { failureOf, filesOf, site, treeOf, write } from "./support.ts";

/** Does something whenever the event loop comes by, until it is disposed of. */
function meanwhile(work: () => void): Disposable {
  let next = setImmediate(again);
  function again(): void {
    work();
    next = setImmediate(again);
  }
  return { [Symbol.dispose]: () => clearImmediate(next) };
}

async function seeFile(path: string): Promise<SeenFile> {
  const file = await see(Buffer.from(path));
  if (file === undefined) throw new Error(`${path} is no file.`);
  return file;
}

test("a file that never rests is named, and nothing is left", async () => {
  using machine = site();
  write(machine.source, { "busy.log": "x".repeat(100_000), "calm.txt": "c" });
  using _writer = meanwhile(() => appendFileSync(join(machine.source, "busy.log"), "more\n"));
  const failure = await failureOf(
    machine.workspaces.prepare(machine.request({ kind: "copy", mounts: [{ source: "." }] })),
  );
  expect(failure).toMatchObject({ code: "workspace_failed" });
  expect(failure.message).toMatch(
    /busy\.log changed twice while it was being copied\. Stop the program that writes it, or exclude the file/,
  );
  expect(treeOf(machine.root)).toEqual({});
});

function tooMuch(): never {
  throw new Error("too much");
}

test("a file that changed once since it was seen is copied as it is now, within the limits", async () => {
  using machine = site();
  const [from, to] = [join(machine.source, "a.txt"), join(machine.path, "copy.txt")];
  const grown: number[] = [];
  const parts = { readOnly: false, signal: undefined, onBytes: () => {} };
  const copy = async (change: () => void, grow = (bytes: number): unknown => grown.push(bytes)): Promise<string> => {
    writeFileSync(from, "first");
    const file = await seeFile(from);
    change();
    rmSync(to, { force: true });
    await copyFile({ ...parts, file, to: Buffer.from(to), grow: (bytes) => void grow(bytes) });
    return readFile(to, "utf8");
  };
  expect(await copy(() => appendFileSync(from, " and more"))).toBe("first and more");
  const replace = (): void => {
    writeFileSync(`${from}.new`, "new");
    renameSync(`${from}.new`, from);
  };
  expect(await copy(replace)).toBe("new");
  expect(grown).toEqual([9, -2]);
  await expect(copy(() => appendFileSync(from, " and more"), tooMuch)).rejects.toThrow("too much");
  await expect(copy(() => unlinkSync(from))).rejects.toThrow("no longer exists");
});

test("a file that changes between its first and its last byte is read again, and after that given up", async () => {
  using machine = site();
  const [from, to] = [join(machine.source, "a.bin"), join(machine.path, "copy.bin")];
  // Larger than what is read at once.
  writeFileSync(from, Buffer.alloc(3_000_000));
  const times = (limit: number): (() => void) => {
    let count = 0;
    return () => {
      // The same size: only its time tells.
      if (count++ < limit) writeFileSync(from, Buffer.alloc(3_000_000, count));
    };
  };
  const parts = { readOnly: false, signal: undefined, grow: () => {}, to: Buffer.from(to) };
  await copyFile({ ...parts, file: await seeFile(from), onBytes: times(1) });
  expect((await readFile(to)).equals(Buffer.alloc(3_000_000, 1))).toBe(true);
  rmSync(to);
  await expect(copyFile({ ...parts, file: await seeFile(from), onBytes: times(Infinity) })).rejects.toThrow("twice");
});

test("a file in whose place stands a link, a directory or a pipe is not opened", async () => {
  using machine = site();
  const path = join(machine.source, "a.txt");
  write(machine.path, { "secret.txt": "secret" });
  for (const change of [
    () => symlinkSync(join(machine.path, "secret.txt"), path),
    () => mkdirSync(path),
    () => linkSync(join(machine.path, "secret.txt"), path),
  ]) {
    rmSync(path, { force: true, recursive: true });
    writeFileSync(path, "plain!");
    const file = await seeFile(path);
    rmSync(path);
    change();
    await expect(openSeen(file)).rejects.toBeInstanceOf(FileChanged);
  }
});

test("a directory in whose place stands a link is noticed, even when it leads to the very same file", async () => {
  using machine = site();
  write(machine.source, { "d/a.txt": "content" });
  mkdirSync(join(machine.path, "outside"));
  linkSync(join(machine.source, "d/a.txt"), join(machine.path, "outside/a.txt"));
  const file = await seeFile(join(machine.source, "d/a.txt"));
  rmSync(join(machine.source, "d"), { recursive: true });
  symlinkSync(join(machine.path, "outside"), join(machine.source, "d"));
  // Only Linux can tell the way a file was opened; elsewhere it is known as the same file.
  if (process.platform === "linux") await expect(openSeen(file)).rejects.toBeInstanceOf(FileChanged);
});

test("a directory that keeps changing places with a link to a secret never lets the secret in", async () => {
  using machine = site();
  const [place, aside] = [join(machine.source, "d"), join(machine.source, "aside")];
  write(machine.source, { "d/a.txt": "public", "b.txt": "b" });
  write(machine.path, { "outside/a.txt": "secret" });
  let swapped = false;
  const swap = (): void => {
    if (swapped) {
      unlinkSync(place);
      renameSync(aside, place);
    } else {
      renameSync(place, aside);
      symlinkSync(join(machine.path, "outside"), place);
    }
    swapped = !swapped;
  };
  for (let round = 0; round < 60; round++) {
    const mounts = [{ source: ".", target: ".", symlinks: round % 2 === 0 ? "skip" : "follow" } as const];
    const request = machine.request({ kind: "copy", mounts }, `session-${round}`);
    using _swapper = meanwhile(swap);
    const made = await machine.workspaces.prepare(request).catch((error: unknown) => {
      expect(error).toMatchObject({ code: "workspace_failed" });
    });
    for (const file of made === undefined ? [] : filesOf(made.cwd))
      expect(await readFile(join(made?.cwd ?? "", file), "utf8")).not.toBe("secret");
  }
});
