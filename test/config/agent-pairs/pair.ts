import type { LIVE } from "./live.ts";
import type { OBSERVABLES } from "./observables.ts";

/** Two agent files that differ at one leaf, and where that must be seen. */
export interface Pair {
  /** What both have besides. */
  readonly both?: string;
  /** The lines that differ; an empty text leaves the field out. */
  readonly lines: readonly [string, string];
  /** The name of an observable. */
  readonly seen: keyof typeof OBSERVABLES | keyof typeof LIVE;
  /** What is asked, where something must be: a call, a message, values of inputs. */
  readonly asked?: string;
  /** That it is refused shows the difference: one file when it is loaded, or both when they are used. */
  readonly refused?: true;
}

export const pair = (
  lines: Pair["lines"],
  seen: Pair["seen"],
  more: Pick<Pair, "both" | "asked" | "refused"> = {},
): Pair => ({
  lines,
  seen,
  ...more,
});

/** One of the two files, with as little else as a file must have. */
export function textOf({ both = "", lines }: Pair, which: 0 | 1): string {
  // A mapping has a key once.
  const given = `\n${both}\n${lines.join("\n")}`;
  const least = ["name: clerk", "model: claude-opus-4-8"].filter(
    (line) => !given.includes(`\n${line.slice(0, line.indexOf(" "))}`),
  );
  return [...least, both, lines[which], ""].join("\n");
}
