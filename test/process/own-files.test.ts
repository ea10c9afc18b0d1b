import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Leftovers } from "../../src/process/leftovers.ts";
import { makeOwnDirectory, openOwnFile, readOwnFile, writeOwnFile } from "../../src/process/own-files.ts";
import { isHarmlessRepository } from "../../src/runtime/protected/harmless-repository.ts";
import { Stubs } from "../../src/sandbox/stubs.ts";
import { temporaryDirectory } from "../support/host.ts";

test("a file of the host is read only where it is a plain one", () => {
  using directory = temporaryDirectory();
  const at = (name: string): string => join(directory.path, name);
  writeFileSync(at("plain"), "text");
  symlinkSync(at("plain"), at("link"));
  execFileSync("mkfifo", [at("pipe")]);
  mkdirSync(at("directory"));
  expect(readOwnFile(at("plain"))).toBe("text");
  expect(readOwnFile(at("missing"))).toBeUndefined();
  for (const name of ["link", "pipe", "directory"]) expect(() => readOwnFile(at(name))).toThrow();
});

test("a file of the host takes the place of whatever is there, and follows no link", async () => {
  using directory = temporaryDirectory();
  const at = (name: string): string => join(directory.path, name);
  writeFileSync(at("victim"), "untouched");
  for (const kind of ["link", "pipe", "directory"]) {
    if (kind === "link") symlinkSync(at("victim"), at(kind));
    else if (kind === "pipe") execFileSync("mkfifo", [at(kind)]);
    else mkdirSync(join(at(kind), "full"), { recursive: true });
    writeOwnFile(at(kind), kind);
    expect(readFileSync(at(kind), "utf8")).toBe(kind);
  }
  symlinkSync(at("victim"), at("opened"));
  {
    await using handle = await openOwnFile(at("opened"));
    await handle.writeFile("new");
  }
  expect(readFileSync(at("opened"), "utf8")).toBe("new");
  expect(readFileSync(at("victim"), "utf8")).toBe("untouched");
  expect(readdirSync(directory.path).filter((name) => name.endsWith(".new"))).toEqual([]);
});

test("a directory of the host is none that a link leads to", () => {
  using directory = temporaryDirectory();
  const at = (name: string): string => join(directory.path, name);
  mkdirSync(at("elsewhere"));
  mkdirSync(at("own"));
  symlinkSync(at("elsewhere"), at("own/a"));
  expect(makeOwnDirectory(at("own"), "a", "b")).toBe(at("own/a/b"));
  expect(lstatSync(at("own/a")).isDirectory()).toBe(true);
  expect(existsSync(at("elsewhere/b"))).toBe(false);
});

test("pipes in the places of what a session keeps hold up no host", () => {
  using directory = temporaryDirectory();
  const at = (...names: string[]): string => join(directory.path, ...names);
  for (const name of ["state/home/.config/git", "ws/.git/hooks"]) mkdirSync(at(name), { recursive: true });
  for (const name of ["leftovers.json", "sandbox-stubs.json", "home/.config/git/ignore"])
    execFileSync("mkfifo", [at("state", name)]);
  execFileSync("mkfifo", [at("ws/.git/config")]);
  const leftovers = new Leftovers(at("state"));
  leftovers.note(at("left"));
  expect(JSON.parse(readFileSync(at("state/leftovers.json"), "utf8"))).toEqual([at("left")]);
  new Stubs({ stateDir: at("state"), cwd: at("ws") }).expect({ home: at("state/home") });
  expect(readFileSync(at("state/home/.config/git/ignore"), "utf8")).toContain("/.vscode\n");
  expect(isHarmlessRepository(at("ws/.git"))).toBe(false);
});
