import type { OBSERVABLES } from "./observables.ts";

/** Two agent files that differ at one leaf, and where that must be seen. */
export interface Pair {
  /** What both have besides. */
  readonly both?: string;
  /** The lines that differ; an empty text leaves the field out. */
  readonly lines: readonly [string, string];
  readonly seen: keyof typeof OBSERVABLES;
  /** What is asked, where something must be: a call, a message, values of inputs. */
  readonly asked?: string;
  /** Both are refused, and the refusal shows the difference. */
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
