import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Leftovers } from "../../src/process/leftovers.ts";
import { temporaryDirectory } from "../support/host.ts";

test("a temporary directory is there until it is swept, on a short path", () => {
  using directory = temporaryDirectory();
  const leftovers = new Leftovers(join(directory.path, "state"));
  const path = leftovers.temporaryDirectory();
  writeFileSync(join(path, "socket"), "");
  expect(path.startsWith(tmpdir())).toBe(true);
  expect(path.length).toBeLessThan(tmpdir().length + 20);
  leftovers.sweep();
  expect(existsSync(path)).toBe(false);
});

test("what a killed process left is removed by the next, its list too", () => {
  using directory = temporaryDirectory();
  const state = join(directory.path, "state");
  const copy = join(directory.path, "claude-resume-1");
  mkdirSync(join(copy, "projects"), { recursive: true });
  const killed = new Leftovers(state);
  const path = killed.temporaryDirectory();
  killed.note(copy);
  expect(readFileSync(join(state, "leftovers.json"), "utf8")).toContain(path);

  const next = new Leftovers(state);
  expect([path, copy, join(state, "leftovers.json")].filter(existsSync)).toEqual([]);
  const own = next.temporaryDirectory();
  expect(existsSync(own)).toBe(true);
  next.sweep();
});

test("a list that a crash cut off keeps nobody from starting", () => {
  using directory = temporaryDirectory();
  writeFileSync(join(directory.path, "leftovers.json"), '["/tmp/capst');
  const leftovers = new Leftovers(directory.path);
  expect(existsSync(leftovers.temporaryDirectory())).toBe(true);
  leftovers.sweep();
});

test("sweeping twice, or what is gone already, is no error", () => {
  using directory = temporaryDirectory();
  const leftovers = new Leftovers(directory.path);
  leftovers.note(join(directory.path, "never-made"));
  leftovers.sweep();
  expect(() => leftovers.sweep()).not.toThrow();
});

test("the state directory is made for this user alone", () => {
  using directory = temporaryDirectory();
  const state = join(directory.path, "a", "b");
  new Leftovers(state).sweep();
  expect(statSync(state).mode & 0o777).toBe(0o700);
});
