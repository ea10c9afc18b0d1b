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
/** Entries of a folder, subfolders included: what fits on a screen. */
const MAX_ENTRIES = 20;

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

test("folders of the console fit on a screen", () => {
  const folders = readdirSync("web/src", { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => posix.join(entry.parentPath.replaceAll("\\", "/"), entry.name));
  const entries = ["web/src", ...folders].map((folder) => ({ folder, entries: readdirSync(folder).length }));
  expect(entries.filter(({ entries: count }) => count > MAX_ENTRIES)).toEqual([]);
});

test("the lock file names no registry", () => {
  expect(readFileSync("package-lock.json", "utf8")).not.toContain('"resolved": "http');
});
