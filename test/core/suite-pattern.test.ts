import { describe, expect, test } from "vitest";
import { patternIn, readPattern } from "../../src/core/suite/suite-pattern.ts";

describe("a text between slashes is a pattern", () => {
  test.each<[string, RegExp]>([
    ["/^git /i", /^git /i],
    ["/total\\.js$/", /total\.js$/],
    ["/^\\/sub\\/ui$/", /^\/sub\/ui$/],
    // As in JavaScript.
    ["/^[^/]+\\.md$/imsu", /^[^/]+\.md$/imsu],
    ["/a\nb/s", /a\nb/s],
    ["/[\\]/]/", /[\]/]/],
  ])("%s", (text, pattern) => {
    expect(patternIn(text)).toEqual(pattern);
    expect(readPattern(text)).toEqual(pattern);
  });
});

describe("a path is none", () => {
  test.each(["/sub/ui", "/srv/app/i", "/srv/src/", "/src/lib/m", "/a/ii", "/a/g", "//", "/", "/tmp", "plain", "a/b/i"])(
    "%s",
    (text) => expect(patternIn(text)).toBeUndefined(),
  );
});

test("a pattern that cannot be read is told", () => {
  expect(() => patternIn("/(/")).toThrow("Invalid regular expression");
  expect(() => patternIn("/[a/")).toThrow("Invalid regular expression");
});

describe("where only a pattern can stand", () => {
  test("the slashes may be left out", () => expect(readPattern("^\\d+ files")).toEqual(/^\d+ files/u));
  test("and a path without an end is one", () => expect(readPattern("/usr/share")).toEqual(/\/usr\/share/u));
  test.each(["/src/lib/i", "/usr/bin/", "/sub/ui", "/a/ii"])("%s could be meant in two ways, and is refused", (text) =>
    expect(() => readPattern(text)).toThrow("write a slash inside a pattern as \\/"),
  );
});
