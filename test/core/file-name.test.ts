import { describe, expect, test } from "vitest";
import { fileNameOf } from "../../src/core/paths/file-name.ts";

describe("the name of a file keeps what a name of plain letters says", () => {
  test.each([
    ["finds the port", "finds-the-port"],
    ["One!", "one"],
    ["a — b…", "a-b"],
    ["Café", "cafe"],
    ["!", "case"],
    ["x".repeat(80), "x".repeat(80)],
  ])("%s", (name, file) => expect(fileNameOf(name)).toBe(file));
});

describe("names of which something is lost do not become one", () => {
  const long = "what it does when the model is asked for something that takes a very long time, ";
  test.each<[string, string[], RegExp]>([
    ["of other scripts", ["Привет", "世界", "привет", "العالم", "สวัสดี"], /^case-[0-9a-f]{8}$/],
    ["of which a part is left", ["reads Привет", "reads 世界"], /^reads-[0-9a-f]{8}$/],
    ["of signs", ["🙂", "🙃"], /^case-[0-9a-f]{8}$/],
    ["that are cut", [`${long}once`, `${long}twice`], /^what-it-does-.*-very-long-time-[ot]-[0-9a-f]{8}$/],
  ])("%s", (_what, names, form) => {
    const files = names.map(fileNameOf);
    expect(new Set(files).size).toBe(names.length);
    for (const file of files) expect(file).toMatch(form);
  });

  test("and are the same on every system and day", () => {
    expect(fileNameOf("Привет")).toBe("case-3805a81b");
    expect(fileNameOf("Чай и кофе й")).toBe(fileNameOf("Чай и кофе й".normalize("NFD")));
  });
});
