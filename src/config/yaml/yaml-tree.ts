import type { Alias, Document, Node } from "yaml";
import { allOfYaml } from "./lazy-yaml.ts";
import type { Problem } from "./problems.ts";

/** How many aliases a file may have, and roughly how many values they may expand to. */
const MAX_ALIASES = 100;
const MAX_DEPTH = 64;

type Path = readonly PropertyKey[];

/** A problem with its position in the text. */
export interface LocatedProblem extends Pick<Problem, "path" | "text"> {
  readonly offset: number;
}

/**
 * What YAML allows and no schema can see: duplicate keys, and aliases without an anchor, with cycles or that expand too
 * much.
 */
export function structureProblems(document: Document.Parsed): readonly LocatedProblem[] {
  const { isAlias, isMap, isNode, isSeq } = allOfYaml();
  const aliases: { readonly alias: Alias; readonly path: Path; readonly above: readonly Node[] }[] = [];
  const problems: LocatedProblem[] = [];

  function walk(node: unknown, path: Path, above: readonly Node[]): void {
    if (!isNode(node)) return;
    if (isAlias(node)) aliases.push({ alias: node, path, above });
    else if (above.length > MAX_DEPTH) problems.push({ offset: startOf(node), path: [], text: "nested too deeply" });
    else if (isSeq(node))
      for (const [index, item] of node.items.entries()) walk(item, [...path, index], [...above, node]);
    else if (isMap(node)) {
      const seen = new Set<string>();
      for (const { key, value } of node.items) {
        const name = keyText(key);
        const inner = [...path, name];
        if (seen.has(name)) problems.push({ offset: startOf(key), path: inner, text: "duplicate key" });
        // An object can't have such a key safely.
        if (name === "__proto__") problems.push({ offset: startOf(key), path: inner, text: "unknown key" });
        seen.add(name);
        walk(value, inner, [...above, node]);
      }
    }
  }

  walk(document.contents, [], []);
  const [tooMany] = aliases.slice(MAX_ALIASES);
  if (tooMany !== undefined)
    return [{ offset: startOf(tooMany.alias), path: tooMany.path, text: `expected at most ${MAX_ALIASES} aliases` }];
  for (const { alias, path, above } of aliases) {
    const offset = startOf(alias);
    const target = alias.resolve(document);
    if (target === undefined) problems.push({ offset, path, text: `no anchor &${alias.source} before this alias` });
    else if (above.includes(target))
      problems.push({ offset, path, text: `the alias *${alias.source} contains itself` });
  }
  const [first] = aliases;
  if (problems.length === 0 && first !== undefined && isFlood(document))
    problems.push({ offset: startOf(first.alias), path: first.path, text: "the aliases expand to too many values" });
  return problems;
}

function isFlood(document: Document.Parsed): boolean {
  try {
    document.toJS({ maxAliasCount: MAX_ALIASES });
    return false;
  } catch {
    return true;
  }
}

/** Where a key or a value starts. For a missing key: where the mapping that should have it starts. */
export function offsetOf(document: Document.Parsed, path: Path, at: Problem["at"]): number {
  const { isAlias, isMap, isNode, isSeq } = allOfYaml();
  let node: unknown = document.contents;
  let offset = startOf(node);
  for (const [depth, step] of path.entries()) {
    const container = isAlias(node) ? node.resolve(document) : node;
    const pair = isMap(container) ? container.items.find(({ key }) => keyText(key) === String(step)) : undefined;
    node = isSeq(container) ? container.items[Number(step)] : pair?.value;
    if (!isNode(node)) return pair === undefined ? offset : startOf(pair.key);
    offset = startOf(pair !== undefined && at === "key" && depth === path.length - 1 ? pair.key : node);
  }
  return offset;
}

/** Where the quoted text starts that is still open at an offset. */
export function openQuoteBefore(document: Document.Parsed, offset: number): number | undefined {
  let start: number | undefined;
  allOfYaml().visit(document, {
    Scalar(_, { type, range }) {
      if (type?.startsWith("QUOTE") && range && range[0] < offset && range[1] >= offset) start = range[0];
    },
  });
  return start;
}

function keyText(key: unknown): string {
  return allOfYaml().isScalar(key) ? String(key.value) : "";
}

function startOf(node: unknown): number {
  return allOfYaml().isNode(node) ? (node.range?.[0] ?? 0) : 0;
}
