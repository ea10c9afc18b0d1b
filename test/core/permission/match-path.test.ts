import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { locator, matchPath, parsePathPattern, type PathMatch } from "../../../src/core/paths/match-path.ts";

const PLACES = { workspace: "/home/me/ws", home: "/home/me" };

function match(pattern: string, path: string, reading: "allow" | "restrict"): PathMatch {
  const parsed = parsePathPattern(pattern);
  if (typeof parsed === "string") throw new Error(parsed);
  return matchPath(parsed, locator(PLACES)(path), reading);
}

function at(names: readonly string[]): string {
  return [PLACES.workspace, ...names].join("/");
}

/** pattern, path (relative to the workspace), whether an allowing rule matches, whether a restricting one does */
const TABLE: readonly [pattern: string, path: string, allows: boolean, restricts: boolean][] = [
  ["src/a.ts", "src/a.ts", true, true],
  ["./src/a.ts", "src/a.ts", true, true],
  ["src/a.ts", "lib/src/a.ts", false, false],
  ["src/*.ts", "src/a.ts", true, true],
  ["src/*.ts", "src/deep/a.ts", false, false],
  ["src/**", "src/deep/a.ts", true, true],
  ["src/**", "src", true, true],
  ["src/**", "srcs/a.ts", false, false],
  ["src/**/*.ts", "src/a.ts", true, true],
  ["src/**/*.ts", "src/x/y/a.ts", true, true],
  ["**/test/**", "a/b/test/c", true, true],
  ["src/?.ts", "src/a.ts", true, true],
  ["src/?.ts", "src/😀.ts", true, true],
  ["src/?.ts", "src/ab.ts", false, false],
  ["src/[ab].ts", "src/b.ts", true, true],
  ["src/[!ab].ts", "src/b.ts", false, false],
  ["src/[a-c]*", "src/bcd", true, true],
  ["src/{a,b}.ts", "src/b.ts", true, true],
  ["{src,lib/{x,y}}/a.ts", "lib/y/a.ts", true, true],
  [String.raw`src/\*.ts`, "src/*.ts", true, true],
  [String.raw`src/\*.ts`, "src/a.ts", false, false],
  ["src/../lib/a.ts", "lib/a.ts", true, true],
  // A name alone is looked for at any depth, and a restricting rule looks beyond the workspace.
  [".env", ".env", true, true],
  [".env", "deep/er/.env", true, true],
  [".env", "/srv/.env", false, true],
  ["*.key", "deep/a.key", true, true],
  ["./.env", "deep/.env", false, false],
  // A directory brings what it holds.
  ["secrets", "secrets/a/b", true, true],
  ["secrets/", "secrets/a", true, true],
  ["secrets/", "deep/secrets/a", true, true],
  ["./secrets", "secrets/a", true, true],
  // ... by a wildcard only in a restricting rule.
  ["src/*", "src/deep/a.ts", false, true],
  // One slash is absolute; to a restricting rule it is the workspace's root as well.
  ["/etc/passwd", "/etc/passwd", true, true],
  ["//etc/passwd", "/etc/passwd", true, true],
  ["/secrets/**", "secrets/a", false, true],
  ["//secrets/**", "secrets/a", false, false],
  ["~/.ssh/**", "/home/me/.ssh/id", true, true],
  ["~/.ssh/**", ".ssh/id", false, false],
  ["~", "/home/me/x", true, true],
  ["../other/**", "/home/me/other/x", true, true],
  ["../other/**", "other/x", false, false],
  [".", "any/thing", true, true],
  [".", "/home/me/other", false, false],
  // Case counts.
  ["src/A.ts", "src/a.ts", false, false],
];

describe("a path pattern", () => {
  test.each(TABLE)("%s and the path %s", (pattern, path, allows, restricts) => {
    const absolute = path.startsWith("/") ? path : `${PLACES.workspace}/${path}`;
    expect(match(pattern, absolute, "allow").matches).toBe(allows);
    expect(match(pattern, absolute, "restrict").matches).toBe(restricts);
  });

  test.each<[string, string, boolean]>([
    ["./secrets/**", PLACES.workspace, true],
    ["./secrets/**", "/", true],
    ["./secrets/**", `${PLACES.workspace}/secrets`, true],
    ["./secrets/**", `${PLACES.workspace}/src`, false],
    [".env", `${PLACES.workspace}/src`, true],
    ["~/.ssh/**", PLACES.workspace, false],
    ["~/.ssh/**", "/home", true],
    ["src/*.key", `${PLACES.workspace}/src`, true],
    ["src/*.key", `${PLACES.workspace}/src/a/b`, false],
  ])("%s may be reached by a search of %s: %s", (pattern, root, reaches) => {
    expect(match(pattern, root, "restrict").reaches).toBe(reaches);
  });

  test.each<[string, string, boolean]>([
    ["src/**", "src", true],
    ["src", "src", true],
    ["src/*", "src", false],
    ["src/*", "src/a", false],
    ["**/*.ts", "src", false],
    ["**", "src", true],
    [".", ".", true],
  ])("%s holds all that is in %s: %s", (pattern, directory, whole) => {
    const path = directory === "." ? PLACES.workspace : `${PLACES.workspace}/${directory}`;
    expect(match(pattern, path, "allow").whole).toBe(whole);
  });

  test("never allows what it would not restrict", () => {
    const piece = fc.constantFrom("a", "b", "*", "**", "?", "..", ".", "[ab]", "{a,b}", "~");
    const pattern = fc.tuple(
      fc.constantFrom("", "/", "//", "./", "~/"),
      fc.array(piece, { minLength: 1, maxLength: 4 }),
    );
    const path = fc.array(fc.constantFrom("a", "b", "home", "me", "ws"), { maxLength: 6 });
    fc.assert(
      fc.property(pattern, path, ([start, pieces], names) => {
        const parsed = parsePathPattern(start + pieces.join("/"));
        if (typeof parsed === "string") return;
        const located = locator(PLACES)(`/${names.join("/")}`);
        const allowing = matchPath(parsed, located, "allow");
        const restricting = matchPath(parsed, located, "restrict");
        if (allowing.matches) expect(restricting.matches).toBe(true);
        if (allowing.whole) expect(allowing.matches).toBe(true);
        if (restricting.matches) expect(restricting.reaches).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  test("says of a search that it reaches whatever the pattern matches below", () => {
    const name = fc.constantFrom("a", "b", "c");
    const pattern = fc.array(fc.constantFrom("a", "b", "*", "**"), { minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(pattern, fc.array(name, { maxLength: 3 }), fc.array(name, { maxLength: 3 }), (pieces, root, rest) => {
        const text = `./${pieces.join("/")}`;
        if (match(text, at([...root, ...rest]), "restrict").matches)
          expect(match(text, at(root), "restrict").reaches).toBe(true);
        if (match(text, at(root), "allow").whole)
          expect(match(text, at([...root, ...rest]), "allow").matches).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });
});
