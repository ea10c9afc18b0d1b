import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { expect, test } from "vitest";

/** folder of src/ → the other folders it may import. Adapters know core and never each other; only app knows adapters. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  /** Pure text, for everybody who shows any; the console too. */
  words: [],
  core: ["words"],
  runtime: ["core", "process"],
  gateway: ["core"],
  process: ["core"],
  /** What confines programs, and the client of MCP servers: both for every engine. */
  sandbox: ["core", "process"],
  mcp: ["core", "process", "sandbox"],
  /** Which addresses are private: for everybody who connects to one that others wrote. */
  network: [],
  engines: ["core", "process", "sandbox", "mcp", "network"],
  tools: ["core"],
  store: ["core"],
  workspace: ["core", "process"],
  config: ["core", "process"],
  protocol: ["core"],
  client: ["core", "protocol"],
  server: ["core", "runtime", "protocol", "network"],
  eval: ["core", "runtime", "process", "words"],
  app: [
    "core",
    "process",
    "config",
    "runtime",
    "gateway",
    "engines",
    "sandbox",
    "mcp",
    "tools",
    "store",
    "workspace",
    "server",
    "eval",
  ],
  cli: ["core", "config", "runtime", "app", "server", "protocol", "client", "eval", "words"],
  ".": ["core", "runtime", "tools", "gateway", "app"],
};
/** What core may take from outside: it is pure. */
const CORE_PACKAGES = ["zod", "unbash"];
const WARN_LINES = 300;
const FAIL_LINES = 500;
const MOST_ENTRIES = 20;

const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
  .map((file) => file.replaceAll("\\", "/"))
  .filter((file) => file.endsWith(".ts"));

const consoleSources = readdirSync("web/src", { recursive: true, encoding: "utf8" })
  .map((file) => `web/src/${file.replaceAll("\\", "/")}`)
  .filter((file) => /\.tsx?$/.test(file));

function importsOf(path: string): string[] {
  const text = readFileSync(path, "utf8");
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"([^"\n]+)"/g)].map((match) => match[1] ?? "");
}

function folderOf(file: string): string {
  return file.includes("/") ? (file.split("/")[0] ?? "") : ".";
}

/** An adapter inside a folder, such as engines/claude: siblings may not import each other. */
function adapterOf(file: string): string | undefined {
  const [folder, adapter, rest] = file.split("/");
  return (folder === "engines" || folder === "store") && rest !== undefined ? adapter : undefined;
}

test("every import follows the folder rule", () => {
  const violations: string[] = [];
  for (const file of sources) {
    const from = folderOf(file);
    const allowed = MAY_IMPORT[from];
    if (allowed === undefined) violations.push(`${file}: the folder "${from}" is not in the rule`);
    for (const specifier of importsOf(`src/${file}`)) {
      if (!specifier.startsWith(".")) {
        if (from === "core" && !CORE_PACKAGES.includes(specifier)) violations.push(`${file} -> ${specifier}`);
        continue;
      }
      const target = posix.join(posix.dirname(file), specifier);
      const to = folderOf(target);
      if (to !== from && !(allowed ?? []).includes(to)) violations.push(`${file} -> ${target}`);
      if (to === from && adapterOf(target) !== undefined && adapterOf(target) !== adapterOf(file))
        violations.push(`${file} -> ${target} (another adapter)`);
    }
  }
  expect(violations).toEqual([]);
});

/** The folder of a file inside one of the folders above; the files directly in it wire the others together. */
function subfolderOf(file: string): string | undefined {
  const [, subfolder, rest] = file.split("/");
  return rest === undefined ? undefined : subfolder;
}

/** Pairs of subfolders that import each other, as "a <-> b". */
function twoWayPairs(folder: string): string[] {
  const edges = new Set<string>();
  for (const file of sources.filter((source) => folderOf(source) === folder)) {
    for (const specifier of importsOf(`src/${file}`).filter((one) => one.startsWith("."))) {
      const target = posix.join(posix.dirname(file), specifier);
      const [from, to] = [subfolderOf(file), subfolderOf(target)];
      if (folderOf(target) === folder && from !== undefined && to !== undefined && from !== to)
        edges.add(`${from} ${to}`);
    }
  }
  return [...edges]
    .map((edge) => edge.split(" "))
    .filter(([from = "", to = ""]) => from < to && edges.has(`${to} ${from}`))
    .map(([from, to]) => `${from} <-> ${to}`)
    .toSorted();
}

test.each(["core", "runtime", "cli", "config", "app", "store", "protocol"])(
  "no two subfolders of %s import each other",
  (folder) => {
    expect(twoWayPairs(folder)).toEqual([]);
  },
);

test("every folder fits on a screen", () => {
  const entries = new Map<string, Set<string>>();
  for (const file of [...sources.map((source) => `src/${source}`), ...consoleSources]) {
    const parts = file.split("/");
    for (const [at, part] of parts.entries()) {
      if (at === 0) continue;
      const folder = parts.slice(0, at).join("/");
      entries.set(folder, (entries.get(folder) ?? new Set()).add(part));
    }
  }
  const wide = [...entries].filter(([, { size }]) => size > MOST_ENTRIES);
  expect(wide.map(([folder, { size }]) => `${folder} has ${size} entries`)).toEqual([]);
});

test("the console knows the server by its client, its wire types and plain words alone", () => {
  const violations = consoleSources.flatMap((file) =>
    importsOf(file)
      .filter((specifier) => specifier.startsWith("."))
      .map((specifier) => posix.join(posix.dirname(file), specifier))
      .filter((target) => !/^(?:web\/src|src\/client|src\/protocol|src\/words)\//.test(target))
      .map((target) => `${file} -> ${target}`),
  );
  expect(violations).toEqual([]);
});

test("files stay small", () => {
  const files = [...sources.map((file) => `src/${file}`), ...consoleSources];
  const lengths = files.map((file) => ({ file, lines: readFileSync(file, "utf8").split("\n").length }));
  for (const { file, lines } of lengths) if (lines > WARN_LINES) console.warn(`${file} has ${lines} lines`);
  expect(lengths.filter(({ lines }) => lines > FAIL_LINES)).toEqual([]);
});

test("docs/architecture.md names files that exist, and follows a call and an approval through 15 files or fewer", () => {
  const page = readFileSync("docs/architecture.md", "utf8");
  const named = [...page.matchAll(/`(src\/[\w./-]+\.ts)`/g)].map(([, file = ""]) => file);
  expect(named.filter((file) => !sources.includes(file.slice("src/".length)))).toEqual([]);
  for (const heading of ["A tool call", "An approval"]) {
    const [, section = ""] = new RegExp(`## ${heading}\\n([\\s\\S]*?)\\n## `).exec(page) ?? [];
    const path = [...section.matchAll(/^\d+\. `(src\/[^`]+)`/gm)].map(([, file]) => file);
    expect(path.length, heading).toBeGreaterThan(5);
    expect(path.length, heading).toBeLessThanOrEqual(15);
    expect(new Set(path).size, heading).toBe(path.length);
  }
});

test("the lock file names no registry", () => {
  expect(readFileSync("package-lock.json", "utf8")).not.toContain('"resolved": "http');
});
