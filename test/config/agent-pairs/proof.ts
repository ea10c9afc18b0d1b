import { parse } from "yaml";
import { differences, type JsonSchema, leavesOf } from "./leaves.ts";
import { REFUSED } from "./observables.ts";
import { type Pair, textOf } from "./pair.ts";

/** What is claimed of a schema: pairs for its leaves, and reasons where there is none. */
export interface Claim {
  readonly schema: JsonSchema;
  readonly pairs: Readonly<Record<string, Pair>>;
  readonly exempt: Readonly<Record<string, string>>;
}

/** The leaves of which nobody has shown that they do anything, and pairs for what is no leaf. */
export function gapsOf({ schema, pairs, exempt }: Claim): readonly string[] {
  const leaves = leavesOf(schema);
  const claimed = [...Object.keys(pairs), ...Object.keys(exempt)];
  return [
    ...leaves.filter((leaf) => !claimed.includes(leaf)).map((leaf) => `${leaf} has no pair of files`),
    ...claimed.filter((leaf) => !leaves.includes(leaf)).map((leaf) => `${leaf} is no leaf of the schema`),
  ];
}

interface Looking {
  readonly schema: JsonSchema;
  /** What is seen of one of the two files. */
  readonly look: (given: Pair, which: 0 | 1) => Promise<string>;
}

/** Why a pair does not show that its leaf does something; undefined when it does. */
export async function flawIn(leaf: string, given: Pair, { schema, look }: Looking): Promise<string | undefined> {
  const places = differences(schema, parse(textOf(given, 0)), parse(textOf(given, 1)));
  if (places.length !== 1 || places[0]?.includes(leaf) !== true)
    return `the files differ at ${places.map((names) => names.join(" or ")).join(", ") || "nothing"}, and not at ${leaf} alone`;
  const seen = [await look(given, 0), await look(given, 1)];
  if (seen[0] === seen[1]) return `${given.seen} does not show ${leaf}: ${seen[0]}`;
  // Two errors differ easily.
  if (given.refused !== true && seen.every((text) => text.startsWith(REFUSED)))
    return `both files are refused: ${seen.join("; ")}`;
  return undefined;
}
