import { globSync, readFileSync } from "node:fs";
import { parseAst } from "rolldown/parseAst";
import { expect, test } from "vitest";

/** Words that end like participles and are verbs or nouns. */
const NO_PARTICIPLES = new Set(["bed", "embed", "exceed", "feed", "need", "proceed", "red", "seed", "shed", "speed"]);
/** Participles without -ed. Those that are also the verb or a noun, such as `read`, `set` or `cost`, are not among them. */
const IRREGULAR = new Set(
  (
    "begun bound broken brought built caught chosen dealt done drawn driven felt forgotten found frozen given gone grown " +
    "heard held hidden kept known laid left lent lost made meant met overwritten paid rewritten said seen sent shown " +
    "sold spent spoken stolen stuck taken taught thought thrown told torn undone withdrawn withheld woken worn written"
  ).split(" "),
);

/** Functions that may keep such a name, as "file name", with the reason. */
const MAY_BE_PARTICIPLES: Readonly<Record<string, string>> = {
  "src/runtime/runtime.ts abandoned": "host.abandoned() is in the public library",
};

/** Exported names that are declared more than once on purpose, with the reason. */
const MAY_BE_DECLARED_TWICE: Readonly<Record<string, string>> = {
  Environment: "the same type; gateway may not import config",
  FeedItem: "the same type, in runtime and server",
  GrantedCall: "the same type, for the Claude engine and for remote MCP servers",
  RuleLists: "the same type, in core and protocol",
  ShellCommand: "the same thing: as the shell reader finds it, and as a call's subject stores it",
  ShellEffect: "the same thing: as the shell reader finds it, and as a call's subject stores it",
};

interface Node {
  readonly type: string;
  readonly [field: string]: unknown;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function childrenOf(node: Node): Node[] {
  return Object.values(node).flat().filter(isNode);
}

function nameOf(value: unknown): string | undefined {
  return isNode(value) && typeof value["name"] === "string" ? value["name"] : undefined;
}

function isFunction(value: unknown): boolean {
  return isNode(value) && (value.type === "ArrowFunctionExpression" || value.type === "FunctionExpression");
}

/** The name under which a node declares a function. Getters are read like fields, and keys of objects belong to a type. */
function functionName(node: Node): string | undefined {
  switch (node.type) {
    case "FunctionDeclaration":
      return nameOf(node["id"]);
    case "MethodDefinition":
    case "TSMethodSignature":
      return node["kind"] === "method" ? nameOf(node["key"]) : undefined;
    case "PropertyDefinition":
      return isFunction(node["value"]) ? nameOf(node["key"]) : undefined;
    case "VariableDeclarator":
      return isFunction(node["init"]) ? nameOf(node["id"]) : undefined;
    default:
      return undefined;
  }
}

function isParticiple(name: string): boolean {
  if (!/^[a-z]+$/.test(name) || NO_PARTICIPLES.has(name)) return false;
  return name.endsWith("ed") || IRREGULAR.has(name);
}

function parse(file: string): Node {
  return parseAst(readFileSync(file, "utf8"), { lang: file.endsWith("x") ? "tsx" : "ts" }) as unknown as Node;
}

function participlesIn(file: string, isCounted: (node: Node) => boolean): string[] {
  const found: string[] = [];
  const visit = (node: Node): void => {
    const name = functionName(node);
    if (name !== undefined && isParticiple(name) && isCounted(node)) found.push(`${file} ${name}`);
    for (const child of childrenOf(node)) visit(child);
  };
  visit(parse(file));
  return found.filter((one) => !(one in MAY_BE_PARTICIPLES));
}

function exportsOf(file: string): string[] {
  return childrenOf(parse(file)).flatMap(({ type, declaration }) => {
    if (type !== "ExportNamedDeclaration" || !isNode(declaration)) return [];
    const names = declaration.type === "VariableDeclaration" ? childrenOf(declaration) : [declaration];
    return names.flatMap(({ id }) => nameOf(id) ?? []);
  });
}

/** Names that more than one file exports, with those files. A type and a value of one file may share a name. */
function declaredTwice(files: readonly string[]): string[] {
  const places = new Map<string, Set<string>>();
  for (const file of files)
    for (const name of exportsOf(file)) places.set(name, (places.get(name) ?? new Set()).add(file));
  return [...places]
    .filter(([name, { size }]) => size > 1 && !(name in MAY_BE_DECLARED_TWICE))
    .map(([name, where]) => `${name}: ${[...where].join(", ")}`);
}

const sources = globSync("src/**/*.ts").toSorted();
const consoleSources = globSync("web/src/**/*.{ts,tsx}").toSorted();
const programs = globSync(["test/**/*.ts", "bench/**/*.ts", "scripts/*.{ts,mjs}"]).toSorted();

test("functions that act are verbs, and functions that ask are nouns, is… or has…", () => {
  expect([...sources, ...consoleSources].flatMap((file) => participlesIn(file, () => true))).toEqual([]);
});

test("so are the functions of tests and benchmarks; the short ones inside a test may be named as it reads best", () => {
  expect(programs.flatMap((file) => participlesIn(file, ({ type }) => type !== "VariableDeclarator"))).toEqual([]);
});

test("an exported name means one thing in src/, and one in the console", () => {
  expect(declaredTwice(sources)).toEqual([]);
  expect(declaredTwice(consoleSources)).toEqual([]);
});

test("every exception is still needed", () => {
  const functions = [...sources, ...consoleSources, ...programs].map((file) => readFileSync(file, "utf8")).join("\n");
  for (const entry of Object.keys(MAY_BE_PARTICIPLES)) expect(functions).toContain(`${entry.split(" ")[1]}(`);
  const names = sources.flatMap((file) => [...new Set(exportsOf(file))]);
  for (const name of Object.keys(MAY_BE_DECLARED_TWICE))
    expect(names.filter((one) => one === name).length, name).toBeGreaterThan(1);
});
