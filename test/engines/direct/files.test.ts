import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  existsSync,
} from "node:fs";
import { join } from "node:path";
import { execFileSync, spawnSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { textOf, toolWorkspace } from "./tool-workspace.ts";

describe("Read", () => {
  test("shows 2000 lines of a longer file, and how to read on", async () => {
    using t = toolWorkspace();
    const path = t.write("many.txt", Array.from({ length: 2_500 }, (_, index) => `line ${index + 1}`).join("\n"));
    const text = textOf(await t.call("Read", { file_path: path }));
    expect(text).toContain("\n2000\tline 2000\n\n[Lines 1 to 2000 of 2500 are shown. Read on with offset: 2001.]");
    expect(textOf(await t.call("Read", { file_path: path, offset: 2_001 }))).toMatch(
      /^2001\tline 2001\n[^]*\tline 2500$/,
    );
  });

  test("refuses what is too large for the model, and says how to read it", async () => {
    using t = toolWorkspace();
    const path = t.write("large.txt", "a line\n".repeat(60_000));
    const large = await t.call("Read", { file_path: path });
    expect(large.isError).toBe(true);
    expect(textOf(large)).toMatch(
      /^File content \(410\.2KB\) exceeds maximum allowed size \(256KB\)\. Use offset and limit/,
    );
    expect(textOf(await t.call("Read", { file_path: path, limit: 50_000 }))).toMatch(
      /exceeds maximum allowed tokens \(25000\)/,
    );
    expect(textOf(await t.call("Read", { file_path: path, offset: 59_999, limit: 1 }))).toBe("59999\ta line");
    expect((await t.call("Read", { file_path: path, allow_large: true })).isError).toBe(false);
  });

  test("reads a part of a file that does not fit into memory, line by line", async () => {
    using t = toolWorkspace();
    const path = t.write("huge.txt", `${"x".repeat(999)}\n`.repeat(17_000) + "last é\r\nend");
    const part = (offset: number, limit: number) => t.call("Read", { file_path: path, offset, limit });
    expect(textOf(await part(17_000, 5))).toBe(`17000\t${"x".repeat(999)}\n17001\tlast é\n17002\tend`);
    expect(textOf(await part(17_001, 1))).toBe("17001\tlast é");
    expect(textOf(await part(20_000, 1))).toContain("The file has 17002 lines.");
    const aborted = await t.call("Read", { file_path: path, offset: 1, limit: 1 }, { signal: AbortSignal.abort() });
    expect(aborted.isError).toBe(true);
  });

  test("shows pictures and PDFs as what they are", async () => {
    using t = toolWorkspace();
    const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.alloc(20)]);
    const picture = await t.call("Read", { file_path: t.write("p.png", png) });
    expect(picture.content).toEqual([
      { type: "image", source: { type: "base64", media_type: "image/png", data: png.toString("base64") } },
    ]);
    const pdf = await t.call("Read", { file_path: t.write("d.pdf", "%PDF-1.1\n%%EOF\n") });
    expect(pdf.content[1]).toMatchObject({ type: "document", source: { media_type: "application/pdf" } });
    const large = await t.call("Read", { file_path: t.write("l.png", Buffer.concat([png, Buffer.alloc(4_000_000)])) });
    expect(textOf(large)).toContain("the model accepts at most 3750000");
  });

  test("reads neither pipes, devices nor what processes say of themselves", async () => {
    using t = toolWorkspace();
    const pipe = join(t.cwd, "pipe");
    spawnSync("mkfifo", [pipe]);
    for (const path of [pipe, "/dev/null", "/proc/self/environ", `/proc/${process.pid}/environ`]) {
      const outcome = await t.call("Read", { file_path: path });
      expect(outcome.isError).toBe(true);
      expect(textOf(outcome)).toContain("names a device or process file");
    }
  });

  test("follows a link that was there when the call was permitted", async () => {
    using t = toolWorkspace();
    symlinkSync(t.write("a.txt", "a\n"), join(t.cwd, "link"));
    expect(textOf(await t.call("Read", { file_path: join(t.cwd, "link") }))).toBe("1\ta\n2\t");
  });

  test("does nothing without a permitted place", async () => {
    using t = toolWorkspace();
    const outcome = await t.call("Read", { file_path: t.write("a.txt", "secret") }, { places: [] });
    expect(outcome).toMatchObject({ isError: true });
    expect(textOf(outcome)).not.toContain("secret");
  });
});

describe("a link that is put in the way after the call was permitted", () => {
  const swaps: readonly (readonly [string, (t: ReturnType<typeof toolWorkspace>) => void])[] = [
    [
      "as the file",
      (t) => {
        rmSync(join(t.cwd, "dir/file.txt"), { force: true });
        symlinkSync(join(t.outside, "file.txt"), join(t.cwd, "dir/file.txt"));
      },
    ],
    [
      "as its directory",
      (t) => {
        renameSync(join(t.cwd, "dir"), join(t.cwd, "moved"));
        symlinkSync(t.outside, join(t.cwd, "dir"));
      },
    ],
  ];

  test.each(swaps)("%s leads no tool outside", async (_how, swap) => {
    const calls: readonly (readonly [string, Record<string, unknown>])[] = [
      ["Read", {}],
      ["Write", { content: "written" }],
      ["Edit", { old_string: "inside", new_string: "written" }],
    ];
    for (const [tool, more] of calls) {
      using t = toolWorkspace();
      const path = t.write("dir/file.txt", "inside\n");
      writeFileSync(join(t.outside, "file.txt"), "inside\n");
      await t.call("Read", { file_path: path });
      const outcome = await t.call(tool, { file_path: path, ...more }, { between: () => swap(t) });
      expect(textOf(outcome)).toContain("changed after this call was permitted");
      expect(readFileSync(join(t.outside, "file.txt"), "utf8")).toBe("inside\n");
    }
  });

  test.each(swaps)("%s makes no new file outside", async (_how, swap) => {
    using t = toolWorkspace();
    mkdirSync(join(t.cwd, "dir"));
    const outcome = await t.call(
      "Write",
      { file_path: join(t.cwd, "dir/file.txt"), content: "x" },
      { between: () => swap(t) },
    );
    expect(outcome.isError).toBe(true);
    expect(existsSync(join(t.outside, "file.txt"))).toBe(false);
  });

  test("leads no new directory outside", async () => {
    using t = toolWorkspace();
    const outcome = await t.call(
      "Write",
      { file_path: join(t.cwd, "new/below/file.txt"), content: "x" },
      { between: () => symlinkSync(t.outside, join(t.cwd, "new")) },
    );
    expect(outcome.isError).toBe(true);
    expect(existsSync(join(t.outside, "below"))).toBe(false);
  });
});

describe("a change", () => {
  test("needs to know the file as it is now", async () => {
    using t = toolWorkspace();
    const path = t.write("a.txt", "one\n");
    const edit = { file_path: path, old_string: "one", new_string: "two" };
    expect(textOf(await t.call("Edit", edit))).toContain("File has not been read yet");
    await t.call("Read", { file_path: path });
    t.write("a.txt", "one more\n");
    expect(textOf(await t.call("Edit", edit))).toContain("File has been modified since read");
    expect(textOf(await t.call("Write", { file_path: path, content: "x" }))).toContain("modified since read");
    await t.call("Read", { file_path: path });
    expect((await t.call("Edit", edit)).isError).toBe(false);
    expect(readFileSync(path, "utf8")).toBe("two more\n");
  });

  test("by a subagent needs what the subagent has read", async () => {
    using t = toolWorkspace();
    const path = t.write("a.txt", "one\n");
    await t.call("Read", { file_path: path });
    const outcome = await t.call("Write", { file_path: path, content: "x" }, { threadId: "thrd_1" });
    expect(textOf(outcome)).toContain("File has not been read yet");
  });

  test("after a restart needs the file to be read again", async () => {
    using t = toolWorkspace();
    const path = t.write("a.txt", "one\n");
    await t.call("Read", { file_path: path });
    t.restart();
    expect(textOf(await t.call("Write", { file_path: path, content: "x" }))).toContain("File has not been read yet");
  });

  test("keeps the encoding, the line endings and the rights of a file", async () => {
    using t = toolWorkspace();
    const path = t.write("a.txt", Buffer.from("\uFEFFä\r\nb\r\n", "utf16le"));
    chmodSync(path, 0o750);
    await t.call("Read", { file_path: path });
    await t.call("Edit", { file_path: path, old_string: "ä\nb", new_string: "é\n$&" });
    expect(readFileSync(path).toString("utf16le")).toBe("\uFEFFé\r\n$&\r\n");
    expect(statSync(path).mode & 0o777).toBe(0o750);
    await t.call("Write", { file_path: path, content: "short\n" });
    expect(readFileSync(path).toString("utf16le")).toBe("\uFEFFshort\n");
  });

  test("does not damage a file of another encoding", async () => {
    using t = toolWorkspace();
    const path = t.write("latin.txt", Buffer.from([0x68, 0xe9, 0x0a]));
    expect(textOf(await t.call("Read", { file_path: path }))).toContain("[This file is not valid UTF-8");
    const outcome = await t.call("Edit", { file_path: path, old_string: "h", new_string: "x" });
    expect(textOf(outcome)).toContain("would be damaged");
    expect([...readFileSync(path)]).toEqual([0x68, 0xe9, 0x0a]);
  });

  test("of a notebook leaves the rest of it as it was", async () => {
    using t = toolWorkspace();
    const cells = [{ cell_type: "code", metadata: { a: 1 }, source: ["x"], outputs: [], execution_count: 3 }];
    const path = t.write(
      "n.ipynb",
      JSON.stringify({ cells, metadata: { kept: true }, nbformat: 4, nbformat_minor: 2 }),
    );
    await t.call("Read", { file_path: path });
    const insert = {
      notebook_path: path,
      cell_id: "cell-0",
      new_source: "# T",
      cell_type: "markdown",
      edit_mode: "insert",
    };
    expect(textOf(await t.call("NotebookEdit", insert))).toBe("Inserted cell cell-1 with # T");
    await t.call("NotebookEdit", { notebook_path: path, cell_id: "cell-0", new_source: "y" });
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
      cells: [
        { cell_type: "code", metadata: { a: 1 }, source: "y", outputs: [], execution_count: null },
        { cell_type: "markdown", metadata: {}, source: "# T" },
      ],
      metadata: { kept: true },
      nbformat: 4,
      nbformat_minor: 2,
    });
  });
});

test("tasks outlive a restart, and a damaged or linked list is not followed", async () => {
  using t = toolWorkspace();
  await t.call("TaskCreate", { subject: "S", description: "D" });
  t.restart();
  expect(textOf(await t.call("TaskList", {}))).toBe("#1 [pending] S");
  const list = join(t.stateDir, "tasks.json");
  const secret = join(mkdtempSync(join(t.outside, "x-")), "secret");
  writeFileSync(secret, "a secret text");
  rmSync(list);
  symlinkSync(secret, list);
  for (const tool of ["TaskList", "TaskCreate"]) {
    const outcome = await t.call(tool, tool === "TaskList" ? {} : { subject: "S", description: "D" });
    expect(outcome.isError).toBe(true);
    expect(textOf(outcome)).toBe("The session's task list cannot be read.");
  }
  expect(readFileSync(secret, "utf8")).toBe("a secret text");
  rmSync(list);
  execFileSync("mkfifo", [list]);
  expect(textOf(await t.call("TaskList", {}))).toBe("The session's task list cannot be read.");
});
