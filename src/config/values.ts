import { createRedactor } from "../core/redaction.ts";
import { shownVariable } from "../core/redaction-session.ts";
import { BUILT_IN, type Layer, type Merged } from "./layers.ts";
import { settingsFile } from "./settings.ts";

/** One value of the configuration and where it came from. An entry of a permission list is a value of its own. */
export interface ConfigurationValue {
  readonly key: string;
  readonly value: unknown;
  readonly source: string;
}

const ORDER = Object.keys(settingsFile.shape);

/**
 * Every value of what `mergeLayers` made of the layers, with the last of them that gives it so; for an entry of a list,
 * with the first.
 */
export function valuesOf(layers: readonly Layer[], merged: Merged): readonly ConfigurationValue[] {
  const sources = new Map<string, string>();
  for (const { source, values } of layers)
    for (const leaf of leavesOf(values))
      if (!leaf.isListed || !sources.has(idOf(leaf))) sources.set(idOf(leaf), source);
  return leavesOf(merged)
    .toSorted((a, b) => placeOf(a) - placeOf(b))
    .map((leaf) => ({ key: leaf.key, value: withoutSecret(leaf), source: sources.get(idOf(leaf)) ?? BUILT_IN }));
}

/** Values stand in the order of the settings file. */
function placeOf({ key }: Leaf): number {
  return ORDER.indexOf(key.split(".")[0] ?? "");
}

function idOf({ key, value }: Leaf): string {
  return `${key} ${JSON.stringify(value)}`;
}

interface Leaf {
  readonly key: string;
  readonly value: unknown;
  readonly isListed: boolean;
}

function leavesOf(value: unknown, path: readonly string[] = []): Leaf[] {
  const key = path.join(".");
  if (Array.isArray(value)) return value.map((item: unknown) => ({ key, value: item, isListed: true }));
  if (typeof value === "object" && value !== null)
    return Object.entries(value).flatMap(([name, inner]) => leavesOf(inner, [...path, name]));
  return value === undefined ? [] : [{ key, value, isListed: false }];
}

const VARIABLE = /^environment\.variables\.(\w+)$/;
const redactor = createRedactor();

/** A variable may be a key, and the address of a repository may hold a password. */
function withoutSecret({ key, value }: Leaf): unknown {
  if (typeof value !== "string" || !key.startsWith("environment.")) return value;
  const [, name] = VARIABLE.exec(key) ?? [];
  return name === undefined ? redactor.text(value) : shownVariable(name, value);
}
