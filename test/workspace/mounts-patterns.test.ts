import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { EnvironmentInput } from "../../src/core/environment/environment.ts";
import { filesOf, gitIn, placeOf, type Site, site, write } from "./support.ts";

type CopyInput = Extract<NonNullable<EnvironmentInput["workspace"]>, { kind: "copy" }>;
type MountInput = CopyInput["mounts"][number];

/** What a mount of the project takes. */
async function mountedFiles(
  machine: Site,
  mount: Partial<MountInput>,
  limits: Partial<CopyInput> = {},
): Promise<string[]> {
  const mounts = [{ source: ".", target: ".", ...mount }];
  const request = machine.request({ kind: "copy", mounts, ...limits });
  const made = await machine.workspaces.prepare(request);
  const files = filesOf(made.cwd);
  await machine.workspaces.remove(placeOf(request, made));
  return files;
}

const TREE = [
  "a.ts",
  "a.js",
  ".env",
  "src/a.ts",
  "src/deep/b.ts",
  "src/deep/.hidden/c.ts",
  "build/out.js",
  "build/keep/k.txt",
  "build/keep/deep/l.txt",
  "docs/x.md",
  "docs/build/y.md",
  "line\nbreak/z.ts",
];

test.each<[Partial<MountInput>, readonly string[]]>([
  [{ include: ["*.ts"] }, ["a.ts"]],
  [{ include: ["**/*.ts"] }, TREE.filter((path) => path.endsWith(".ts"))],
  [{ include: ["src"] }, TREE.filter((path) => path.startsWith("src/"))],
  [{ include: ["src/"] }, TREE.filter((path) => path.startsWith("src/"))],
  [{ include: ["./src/*"] }, TREE.filter((path) => path.startsWith("src/"))],
  [{ include: ["src/*.ts"] }, ["src/a.ts"]],
  [{ include: ["a.ts/"] }, []],
  [{ include: ["*"], exclude: ["*/"] }, ["a.ts", "a.js", ".env"]],
  [{ include: ["{src,docs}/**/*.{ts,md}"] }, TREE.filter((path) => /^(?:src|docs)\//.test(path))],
  [{ include: ["**/.hidden/**"] }, ["src/deep/.hidden/c.ts"]],
  [{ exclude: ["**"] }, []],
  [{ exclude: ["build"] }, TREE.filter((path) => !path.startsWith("build/"))],
  [{ exclude: ["build/"] }, TREE.filter((path) => !path.startsWith("build/"))],
  [{ exclude: ["build/**"] }, TREE.filter((path) => !path.startsWith("build/"))],
  [{ exclude: ["**/build/"] }, TREE.filter((path) => !path.includes("build/"))],
  [{ exclude: ["a.ts/", "a.js/**"] }, TREE],
  [{ exclude: ["**", "!build/keep/**"] }, ["build/keep/k.txt", "build/keep/deep/l.txt"]],
  [{ exclude: ["build", "!build/keep/*.txt"] }, TREE.filter((path) => !/^build\/(?!keep\/k)/.test(path))],
  [{ exclude: ["!build", "build"] }, TREE.filter((path) => !path.startsWith("build/"))],
  [{ exclude: ["build", "!build/keep", "build/keep/deep"] }, TREE.filter((path) => !/out|deep\/l/.test(path))],
  [{ include: ["src/**"], exclude: ["**/*.ts", "!**/b.ts"] }, ["src/deep/b.ts"]],
  [{ source: "a.ts", target: "one" }, ["one"]],
  [{ source: "a.ts", target: "one", exclude: ["*.ts"] }, []],
])("%j takes what it says", async (mount, expected) => {
  using machine = site();
  write(machine.source, Object.fromEntries(TREE.map((path) => [path, path])));
  expect(await mountedFiles(machine, mount)).toEqual(expected.toSorted());
});

test("an excluded directory is not looked into, unless something in it may be taken back", async () => {
  using machine = site();
  const many = Array.from({ length: 50 }, (_, index) => `big/d${index}/file.txt`);
  write(machine.source, Object.fromEntries(["a.txt", "big/keep/k.txt", ...many].map((path) => [path, path])));
  // Every directory that is looked into counts.
  const limits = { max_files: 5 };
  for (const exclude of [["big"], ["big/"], ["big/**"], ["**/big"], ["big", "!other/**"]])
    expect(await mountedFiles(machine, { exclude }, limits)).toEqual(["a.txt"]);
  expect(await mountedFiles(machine, { exclude: ["big", "!big/keep/**"] }, limits)).toEqual([
    "a.txt",
    "big/keep/k.txt",
  ]);
  expect(await mountedFiles(machine, { include: ["*.txt", "big/k*/**"] }, limits)).toEqual(["a.txt", "big/keep/k.txt"]);
  write(machine.source, { ".gitignore": "big/\n" });
  expect(await mountedFiles(machine, { gitignore: true }, limits)).toEqual([".gitignore", "a.txt"]);
  await expect(mountedFiles(machine, { exclude: ["big", "!**/nothing"] }, limits)).rejects.toThrow(
    "more than 5 directories",
  );
});

const name = fc.constantFrom("a", "b", "ab", ".a", "a.x", "b.x");
const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join("/"));

/** Paths that can be there together: none is a directory of another. */
const tree = fc
  .uniqueArray(path, { minLength: 1, maxLength: 12 })
  .map((paths) => paths.filter((one) => !paths.some((other) => other.startsWith(`${one}/`))));

const segment = fc.constantFrom("a", "b", "*", "**", "*.x", "a*", "?", ".*", "[ab]");
const glob = fc
  .tuple(fc.array(segment, { minLength: 1, maxLength: 3 }), fc.constantFrom("", "/"))
  .map(([segments, end]) => `${segments.join("/")}${end}`);

/** The meaning of a glob, as plainly as it can be said. */
function isMatch(pattern: string, file: string): boolean {
  const segments = pattern.replace(/\/$/, "").split("/");
  const names = file.split("/");
  const ends = names.map((_, index) => names.slice(0, index + 1));
  const candidates = pattern.endsWith("/") ? ends.slice(0, -1) : ends;
  return candidates.some((candidate) => covers(segments, candidate));
}

function covers([first, ...rest]: readonly string[], names: readonly string[]): boolean {
  if (first === undefined) return names.length === 0;
  if (first === "**")
    return rest.length === 0 ? names.length > 0 : names.some((_, skip) => covers(rest, names.slice(skip)));
  const [name, ...others] = names;
  const expression = first.replaceAll(".", "\\.").replaceAll("*", "[^]*").replaceAll("?", "[^]");
  return name !== undefined && new RegExp(`^${expression}$`).test(name) && covers(rest, others);
}

/** Many trees in one workspace, each a mount of its own: a process for each of them would take too long. */
const MANY = 10;

function writeTrees(machine: Site, trees: readonly Readonly<Record<string, string>>[]): void {
  rmSync(machine.source, { recursive: true });
  mkdirSync(machine.source);
  for (const [index, files] of trees.entries())
    write(machine.source, { [`t${index}/always`]: "", ...prefixFiles(index, files) });
}

function prefixFiles(index: number, files: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([file, content]) => [`t${index}/${file}`, content]));
}

const contents = (paths: readonly string[]): Record<string, string> =>
  Object.fromEntries(paths.map((file) => [file, file]));

async function takenOf(machine: Site, mounts: readonly Omit<MountInput, "source">[]): Promise<string[]> {
  const [first, ...others] = mounts.map((mount, index) => ({ source: `t${index}`, ...mount }));
  if (first === undefined) return [];
  const request = machine.request({ kind: "copy", mounts: [first, ...others] });
  const made = await machine.workspaces.prepare(request);
  const files = filesOf(made.cwd);
  await machine.workspaces.remove(placeOf(request, made));
  return files;
}

const excludes = fc.array(fc.tuple(fc.boolean(), glob), { maxLength: 4 });
const filtered = fc.record({ paths: tree, include: fc.array(glob, { maxLength: 2 }), exclude: excludes });

test("include and exclude mean what a plain reading of them means, for any tree", async () => {
  using machine = site();
  await fc.assert(
    fc.asyncProperty(fc.array(filtered, { minLength: 1, maxLength: MANY }), async (cases) => {
      writeTrees(
        machine,
        cases.map(({ paths }) => contents(paths)),
      );
      const expected = cases.flatMap(({ paths, include, exclude }, index) =>
        ["always", ...paths]
          .filter((file) => include.length === 0 || include.some((pattern) => isMatch(pattern, file)))
          .filter((file) => exclude.findLast(([, pattern]) => isMatch(pattern, file))?.[0] !== false)
          .map((file) => `t${index}/${file}`),
      );
      const mounts = cases.map(({ include, exclude }) => ({
        include,
        exclude: exclude.map(([takesBack, pattern]) => `${takesBack ? "!" : ""}${pattern}`),
      }));
      expect(await takenOf(machine, mounts)).toEqual(expected.toSorted());
    }),
    { numRuns: 25 },
  );
});

const rule = fc
  .tuple(fc.constantFrom("", "", "!"), fc.constantFrom("", "/"), glob, fc.constantFrom("", " ", "\r"))
  .map(([sign, start, pattern, end]) => `${sign}${start}${pattern}${end}`);
const ignoreFile = fc.array(fc.oneof(rule, fc.constantFrom("# a", "", "\\#", "a b", "*")), { maxLength: 4 });
const ignoring = fc.record({
  paths: tree,
  ignores: fc.dictionary(fc.constantFrom("", "a/", "a/b/", "b/", "a/a/"), ignoreFile, { maxKeys: 3 }),
});

test("with gitignore a mount takes exactly what git would, nested files and their negations included", async () => {
  using machine = site();
  gitIn(machine.path, "init", "--quiet", "--bare", "oracle.git");
  const where = [
    `--git-dir=${join(machine.path, "oracle.git")}`,
    `--work-tree=${machine.source}`,
    "-c",
    "core.bare=false",
  ];
  const oracle = (): string[] =>
    gitIn(machine.source, ...where, "ls-files", "--others", "--exclude-standard", "-z")
      .split("\0")
      .filter((file) => file !== "");
  await fc.assert(
    fc.asyncProperty(fc.array(ignoring, { minLength: 1, maxLength: MANY }), async (cases) => {
      const trees = cases.map(({ paths, ignores }) => {
        // Where there is a file of that name, there is no directory to put it in.
        const possible = Object.entries(ignores).filter(([directory]) =>
          paths.some((file) => file.startsWith(directory)),
        );
        const files = possible.map(([directory, lines]) => [`${directory}.gitignore`, lines.join("\n")]);
        return { ...contents(paths), ...(Object.fromEntries(files) as Record<string, string>) };
      });
      writeTrees(machine, trees);
      const mounts = cases.map(() => ({ gitignore: true }));
      expect(await takenOf(machine, mounts)).toEqual(oracle().toSorted());
    }),
    { numRuns: 25 },
  );
});
