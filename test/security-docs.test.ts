import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

test("every test that the threat model names exists", () => {
  const page = readFileSync("docs/security.md", "utf8");
  const named = [...page.matchAll(/`(test\/[\w./-]+\.test\.ts)`/g)].map(([, file = ""]) => file);
  expect(named.length).toBeGreaterThan(40);
  expect(named.filter((file) => !existsSync(file))).toEqual([]);
});
