import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readSuite } from "../../src/config/suite/suite-file.ts";
import { caseAsWritten } from "../../src/core/suite/suite-schema.ts";
import { temporaryDirectory } from "../support/host.ts";
import { EVERYTHING } from "../support/trust.ts";

const page = readFileSync("docs/tests.md", "utf8");
const blocks = [...page.matchAll(/^```yaml (suite|agent)\n([\s\S]*?)^```$/gm)].map(([, kind = "", text = ""]) => ({
  file: kind === "suite" ? "shown.test.yaml" : "shown.yaml",
  text,
}));

test.for(blocks)("a suite in docs/tests.md is valid ($#)", async ({ file, text }) => {
  using directory = temporaryDirectory();
  mkdirSync(join(directory.path, "fixtures/shop"), { recursive: true });
  writeFileSync(join(directory.path, "agent.yaml"), "name: shown\ninstructions: Be brief.\ntools: [Read]\n");
  writeFileSync(join(directory.path, file), text);
  const { suite } = await readSuite(join(directory.path, file), { HOME: directory.path }, EVERYTHING);
  expect(suite.cases.length).toBeGreaterThan(0);
});

test("the page has each field of a case", () => {
  const [, table = ""] = /^## Cases$([\s\S]*?)^`defaults`/m.exec(page) ?? [];
  const told = [...table.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, names = ""]) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name),
  );
  expect(told.toSorted()).toEqual(Object.keys(caseAsWritten.shape).toSorted());
});
