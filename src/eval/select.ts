import type { Case, Suite } from "../core/suite/suite.ts";

export interface Selection {
  /** Words of which a case's name, or `#tag` of which its tags, must have one. */
  readonly filter: readonly string[];
  readonly trials: number | undefined;
}

/** The cases of all suites, and for each that is not run the reason. `only` counts over all suites together. */
export function select(
  suites: readonly Suite[],
  { filter, trials }: Selection,
): readonly { readonly suite: Suite; readonly case: Case; readonly left: string | undefined }[] {
  const hasOnly = suites.some(({ cases }) => cases.some(({ only }) => only));
  return suites.flatMap((suite) =>
    suite.cases.map((one) => ({
      suite,
      case: trials === undefined ? one : { ...one, trials },
      left: reasonAgainst(one, { filter, hasOnly }),
    })),
  );
}

function reasonAgainst(
  { name, tags, only, skip }: Case,
  { filter, hasOnly }: { filter: readonly string[]; hasOnly: boolean },
): string | undefined {
  if (skip !== undefined) return skip;
  if (hasOnly && !only) return "another case has only: true";
  const fits = (word: string): boolean =>
    word.startsWith("#") ? tags.includes(word.slice(1)) : name.toLowerCase().includes(word.toLowerCase());
  return filter.length === 0 || filter.some(fits) ? undefined : filteredOut(filter);
}

/** The reason for a case that does not fit what was asked for. */
export function filteredOut(filter: readonly string[]): string {
  return `--filter ${filter.join(" ")}`;
}
