import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import * as library from "../src/index.ts";

/** The names between the braces of every import or export statement that `pattern` finds. */
function namesIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)]
    .flatMap((match) => (match[1] ?? "").split(","))
    .map((name) =>
      name
        .trim()
        .replace(/^type /, "")
        .replace(/^\w+ as /, ""),
    )
    .filter((name) => name !== "");
}

const exported = namesIn(readFileSync("src/index.ts", "utf8"), /^export (?:type )?\{([^}]*)\} from/gm).toSorted();
const used = new Set(
  globSync("examples/*.ts").flatMap((file) =>
    namesIn(readFileSync(file, "utf8"), /^import (?:type )?\{([^}]*)\} from "capstan"/gm),
  ),
);

test("every exported name is found", () => {
  for (const name of Object.keys(library)) expect(exported).toContain(name);
  expect(new Set(exported).size).toBe(exported.length);
});

test("docs/library.md has a heading for each exported name, and for no other", () => {
  const headings = [...readFileSync("docs/library.md", "utf8").matchAll(/^### (.+)$/gm)].map((match) => match[1] ?? "");
  const documented = headings.flatMap((heading) => [...heading.matchAll(/`(\w+)`/g)].map((match) => match[1] ?? ""));
  expect(documented.toSorted()).toEqual(exported);
});

test("each exported name, types too, is used by an example", () => {
  expect(exported.filter((name) => !used.has(name))).toEqual([]);
});
