import { symlinkSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { NO_SECRETS } from "../../src/core/environment/secret-files.ts";
import { fileInput, isSameFile } from "../../src/runtime/paths/file-input.ts";
import { files } from "../config/files.ts";

const PLACES = { cwd: "/nowhere/ws", home: "/nowhere/home" };
const read = (path: unknown) => fileInput("Read", { file_path: path }, PLACES);

describe("the path of a file tool is written out", () => {
  test.each([
    ["a.txt", "/nowhere/ws/a.txt"],
    [" secrets/key ", "/nowhere/ws/secrets/key"],
    ["\u00A0\u2003secrets\uFEFF\u3000", "/nowhere/ws/secrets"],
    ["\n\tsecrets\r\n", "/nowhere/ws/secrets"],
    ["./a//b/../c/", "/nowhere/ws/a/c"],
    ["../out", "/nowhere/out"],
    ["/a/../..", "/"],
    ["~", "/nowhere/home"],
    ["~/.ssh", "/nowhere/home/.ssh"],
    // No tool looks up the homes of others.
    ["~root/x", "/nowhere/ws/~root/x"],
    ["a/~/b", "/nowhere/ws/a/~/b"],
    ["a%2fb", "/nowhere/ws/a%2fb"],
    ["a b /c", "/nowhere/ws/a b /c"],
    // Some file systems know one of them, others both.
    ["cafe\u0301", "/nowhere/ws/cafe\u0301"],
  ])("%j", (path, expected) => {
    expect(read(path)).toEqual({ input: { file_path: expected } });
  });

  test.each([
    ["", "empty"],
    [" \t ", "empty"],
    ["a\0b", "control character"],
    ["a\nb", "control character"],
    ["a\u0085b", "control character"],
    ["a\uD800", "not valid Unicode"],
    ["file:///etc/passwd", "is a URL"],
    ["FILE://x", "is a URL"],
    ["a /.", "ends in whitespace"],
    ["a\u3000/b/..", "ends in whitespace"],
    ["x".repeat(256), "too long"],
    ["ü".repeat(128), "too long"],
    ["x/".repeat(3_000), "too long"],
    ["/proc/self/cwd/a", "in each process"],
    ["/proc/1/root/etc/passwd", "in each process"],
    ["/proc/self/task/1/fd/3", "in each process"],
    ["/dev/fd/0", "in each process"],
    ["/dev/stdin", "in each process"],
  ])("%j is refused", (path, why) => {
    expect(read(path).refused).toContain(why);
  });

  test("links are followed only to see that they end", () => {
    using all = files({ "ws/a": "", "out/b": "" });
    symlinkSync("loop", all.at("ws/loop"));
    symlinkSync("../out", all.at("ws/link"));
    symlinkSync("/proc/self/cwd", all.at("ws/here"));
    const about = (path: string) => fileInput("Read", { file_path: path }, { cwd: all.at("ws"), home: all.at("") });
    expect(about("link/b")).toEqual({ input: { file_path: all.at("ws/link/b") } });
    expect(about("loop").refused).toContain("form a loop");
    expect(about("loop/x").refused).toContain("form a loop");
    expect(about("here/a").refused).toContain("in each process");
  });

  test("the rest of the input stays as it is", () => {
    const input = { notebook_path: " a.ipynb", new_source: " x ", cell_id: " 1 " };
    expect(fileInput("NotebookEdit", input, PLACES).input).toEqual({ ...input, notebook_path: "/nowhere/ws/a.ipynb" });
    expect(fileInput("Bash", { command: " ls " }, PLACES).input).toEqual({ command: " ls " });
    expect(read(5)).toEqual({ input: { file_path: 5 } });
  });
});

describe("a search has its directory written out", () => {
  test.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    // Files that may hold a secret are read only when they are named.
    ["Grep", { pattern: " x " }, { pattern: " x ", glob: NO_SECRETS }],
    ["Grep", { pattern: "x", path: " secrets" }, { pattern: "x", path: "/nowhere/ws/secrets", glob: NO_SECRETS }],
    ["Grep", { pattern: "x", path: "../out " }, { pattern: "x", path: "/nowhere/out", glob: NO_SECRETS }],
    ["Grep", { pattern: "x", path: "  " }, { pattern: "x", path: "/nowhere/ws", glob: NO_SECRETS }],
    ["Grep", { pattern: "/etc/*", glob: "*.ts" }, { pattern: "/etc/*", glob: `*.ts ${NO_SECRETS}` }],
    ["Grep", { pattern: "x", glob: ".env*" }, { pattern: "x", glob: `.env* ${NO_SECRETS}` }],
    ["Grep", { pattern: "x", path: "a/.env" }, { pattern: "x", path: "/nowhere/ws/a/.env" }],
    ["Glob", { pattern: "src/*.ts" }, { pattern: "src/*.ts" }],
    ["Glob", { pattern: "*", path: "~" }, { pattern: "*", path: "/nowhere/home" }],
    ["Glob", { pattern: "/etc/ssh*/*" }, { pattern: "ssh*/*", path: "/etc" }],
    ["Glob", { pattern: "/etc/passwd", path: "src" }, { pattern: "passwd", path: "/etc" }],
    ["Glob", { pattern: "/*" }, { pattern: "*", path: "/" }],
    ["Glob", { pattern: "/nowhere/ws/../out /*" }, { pattern: "*", path: "/nowhere/out" }],
    ["Glob", { pattern: "~/.ssh/*" }, { pattern: "*", path: "/nowhere/home/.ssh" }],
  ])("%s %j", (tool, input, expected) => {
    expect(fileInput(tool, input, PLACES)).toEqual({ input: expected });
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["Glob", { pattern: "../*" }, "cannot contain `..`"],
    ["Glob", { pattern: "{a,../b}/*" }, "cannot contain `..`"],
    ["Glob", { pattern: "/etc/*/../x" }, "cannot contain `..`"],
    ["Glob", { pattern: "a\0" }, "pattern contains a control character"],
    ["Grep", { pattern: "x", glob: "a\n" }, "glob contains a control character"],
    ["Grep", { pattern: "x", path: "/dev/fd" }, "in each process"],
  ])("%s %j is refused", (tool, input, why) => {
    expect(fileInput(tool, input, PLACES).refused).toContain(why);
  });
});

test("an input that was written out stays the same", () => {
  const piece = fc.constantFrom("..", ".", "~", " ", "\u00A0", "a", "*", "{", "}", ",", "/", "//", "\\", "é", "[", "!");
  const path = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(""));
  const call = fc.oneof(
    path.map((text) => ["Read", { file_path: text }] as const),
    fc.tuple(path, path).map(([one, other]) => ["Glob", { path: one, pattern: other }] as const),
    fc.tuple(path, path).map(([one, other]) => ["Grep", { path: one, pattern: other }] as const),
  );
  fc.assert(
    fc.property(call, ([tool, input]) => {
      const first = fileInput(tool, input, PLACES);
      fc.pre(first.refused === undefined);
      expect(fileInput(tool, first.input, PLACES)).toEqual(first);
    }),
    { numRuns: 2_000 },
  );
});

test("a path that is only written out means the same file, and anything else does not", () => {
  const written = { file_path: "/home/me/project/a.txt", content: "x" };
  const same = (tool: string, input: Record<string, unknown>): boolean =>
    isSameFile(tool, [input, written], "/home/me/project");
  expect(same("Write", { file_path: "a.txt", content: "x" })).toBe(true);
  expect(same("Write", { file_path: "./b/../a.txt", content: "x" })).toBe(true);
  expect(same("Write", { file_path: "b.txt", content: "x" })).toBe(false);
  expect(same("Write", { file_path: "a.txt", content: "y" })).toBe(false);
  // Not a tool of ours that works on one file: nobody can say what its fields mean.
  expect(same("deploy", { file_path: "a.txt", content: "x" })).toBe(false);
});
