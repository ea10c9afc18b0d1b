import { existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Case } from "../../src/core/suite/suite.ts";
import { prepareFixture } from "../../src/eval/fixture.ts";
import { temporaryDirectory } from "../support/host.ts";
import { writeTree } from "../support/suites.ts";

interface Prepared extends Disposable {
  /** What is neither the fixture nor the workspace lies here. */
  readonly root: string;
  readonly workspace: string;
  readonly prepare: (files?: Readonly<Record<string, string>>) => Promise<void>;
}

function fixtureWithLinks(links: Readonly<Record<string, string>>): Prepared {
  const directory = temporaryDirectory();
  const root = directory.path;
  writeTree(root, { "fixture/a/b/c.txt": "c", "outside/kept.txt": "kept" });
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(root, "fixture", name));
  const workspace = join(root, "trial/deep/workspace");
  mkdirSync(workspace, { recursive: true });
  return {
    root,
    workspace,
    prepare: (files = {}) =>
      prepareFixture(workspace, { fixture: join(root, "fixture"), files, git: false } as unknown as Case),
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  };
}

test.for<[string, Record<string, string>, string]>([
  ["says so", { l: "/etc" }, "l -> /etc."],
  ["climbs", { l: "../.." }, "l -> ../.., which is "],
  // `s` leads to the top, so that the steps up from it are steps out.
  ["climbs behind another link", { "a/b/s": "../..", l: "a/b/s/../../.." }, "l -> a/b/s/../../.., which is "],
  ["names what is not there yet", { l: "../../new/file.txt" }, "l -> ../../new/file.txt, which is "],
  ["climbs from there", { "a/s": "..", l: "a/s/../none" }, "l -> a/s/../none, which is "],
  ["stands deep inside", { "a/b/m": "../../../x", z: "a", l: "a/b" }, "a/b/m -> ../../../x, which is "],
])("a link that leads out of a fixture is refused: one that %s", async ([, links, told]) => {
  using fixture = fixtureWithLinks(links);
  const files = { "l/outside/planted.txt": "planted", "l/planted.txt": "planted" };
  await expect(fixture.prepare(files)).rejects.toThrow(`has a link to a path outside of it: ${told}`);
  for (const place of ["outside/planted.txt", "planted.txt", "trial/new", "trial/deep/x", "trial/deep/none"])
    expect(existsSync(join(fixture.root, place)), place).toBe(false);
});

test("links inside of a fixture are copied as they are, and files can be written through them", async () => {
  using fixture = fixtureWithLinks({
    l: "a/b",
    "a/b/s": "../..",
    up: "a/b/s/a/b/c.txt",
    later: "a/new.txt",
    loop: "loop",
  });
  await fixture.prepare({ "l/d.txt": "d", later: "new" });
  const content = (name: string): string => readFileSync(join(fixture.workspace, name), "utf8");
  expect(["a/b/d.txt", "up", "a/new.txt"].map(content)).toEqual(["d", "c", "new"]);
});

test("a file is not written outside, whatever its name", async () => {
  using fixture = fixtureWithLinks({});
  await expect(fixture.prepare({ "../planted.txt": "planted" })).rejects.toThrow(
    /The case's file \.\.\/planted\.txt would be written outside the workspace, to .*deep\/planted\.txt/,
  );
  expect(existsSync(join(fixture.root, "trial/deep/planted.txt"))).toBe(false);
});
