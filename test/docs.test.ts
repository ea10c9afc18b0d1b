import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ERROR_CODES } from "../src/core/errors.ts";
import { preview, sessionEvent } from "../src/core/events.ts";
import { temporaryDirectory } from "./support/host.ts";

const run = promisify(execFile);
const pages = [
  "README.md",
  "CONTEXT.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  ...readdirSync("docs", { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".md"))
    .map((file) => join("docs", file)),
];
const textOf = new Map(pages.map((page) => [page, readFileSync(page, "utf8")]));

interface Block {
  /** Where it begins, such as `docs/tools.md:12`. */
  readonly place: string;
  /** A file name made of the place. */
  readonly file: string;
  readonly runs: boolean;
  readonly code: string;
}

const blocks: readonly Block[] = pages.flatMap((page) => {
  const text = textOf.get(page) ?? "";
  return [...text.matchAll(/^```ts( run)?\n([\s\S]*?)^```$/gm)].map((match): Block => {
    const line = text.slice(0, match.index).split("\n").length;
    const file = `${page.replaceAll(/\W/g, "-")}-${line}.ts`;
    return { place: `${page}:${line}`, file, runs: match[1] !== undefined, code: match[2] ?? "" };
  });
});

/** A block may speak of a host and a session without making them. */
const PRELUDE = `import type { Host, Session } from "capstan";
declare global {
  const host: Host;
  const session: Session;
}
`;

/** A directory that sees the package as a program that installed it does, and zod beside it. */
function installation(): ReturnType<typeof temporaryDirectory> {
  const directory = temporaryDirectory();
  const modules = join(directory.path, "node_modules");
  mkdirSync(modules);
  symlinkSync(resolve("."), join(modules, "capstan"));
  for (const name of ["zod", "@types"]) symlinkSync(resolve("node_modules", name), join(modules, name));
  writeFileSync(join(directory.path, "package.json"), '{ "type": "module" }');
  for (const { file, code } of blocks) writeFileSync(join(directory.path, file), code);
  return directory;
}

test("every TypeScript block compiles", async () => {
  expect(blocks.length).toBeGreaterThan(0);
  using directory = installation();
  writeFileSync(join(directory.path, "prelude.d.ts"), PRELUDE);
  const compilerOptions = { noUnusedLocals: false, noUnusedParameters: false, moduleDetection: "force" };
  const config = { extends: resolve("tsconfig.json"), compilerOptions, include: ["*.ts"] };
  writeFileSync(join(directory.path, "tsconfig.json"), JSON.stringify(config));
  const tsc = resolve("node_modules/typescript/bin/tsc");
  const { stdout } = await run(process.execPath, [tsc, "-p", directory.path]).catch(
    (error: unknown) => error as Output,
  );
  const named = blocks.reduce((text, { file, place }) => text.replaceAll(file, `${file} (${place})`), stdout);
  expect(named).toBe("");
});

interface Output {
  readonly stdout: string;
}

test.for(blocks.filter(({ runs }) => runs))("the program at $place runs", async ({ file }) => {
  using directory = installation();
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: directory.path };
  // Rejects when the exit code is not 0.
  const { stdout } = await run(process.execPath, [file], { cwd: directory.path, env, timeout: 50_000 });
  expect(stdout).not.toBe("");
});

test("links lead to files and headings that exist", () => {
  const broken: string[] = [];
  for (const [page, text] of textOf)
    for (const [, target = ""] of withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^https?:/.test(target)) continue;
      const [path = "", anchor] = target.split("#");
      const file = path === "" ? page : join(dirname(page), path);
      const isFound = existsSync(file) && (anchor === undefined || anchorsOf(file).includes(anchor));
      if (!isFound) broken.push(`${page} -> ${target}`);
    }
  expect(broken).toEqual([]);
});

/** As GitHub makes them of headings. */
function anchorsOf(file: string): string[] {
  return [...withoutCode(readFileSync(file, "utf8")).matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
}

function withoutCode(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```$/gm, "");
}

/** The first cells of every table row that begins with a code word, with the cells after it. */
function rowsOf(page: string): string[][] {
  return [...(textOf.get(page) ?? "").matchAll(/^\| `([\w.]+)` \|(.*)\|$/gm)].map(([, name = "", rest = ""]) => [
    name,
    ...rest.split("|").map((cell) => cell.trim()),
  ]);
}

test("docs/errors.md has every code with its exit code", () => {
  const table = rowsOf("docs/errors.md").map(([code = "", exitCode]): [string, number] => [code, Number(exitCode)]);
  expect(Object.fromEntries(table)).toEqual(ERROR_CODES);
  expect(table.length).toBe(Object.keys(ERROR_CODES).length);
});

test("docs/sessions-and-events.md has every event and preview", () => {
  const types = [...sessionEvent.options, ...preview.options].map(({ shape }) => shape.type.value);
  const table = rowsOf("docs/sessions-and-events.md").map(([type = ""]) => type);
  expect(table.filter((type) => type.includes(".") || type.startsWith("event_")).toSorted()).toEqual(types.toSorted());
});
