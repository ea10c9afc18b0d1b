import type { Case, Suite } from "../core/suite/suite.ts";

export interface Selection {
  /** A case runs if its name contains one of these words, or has the tag of a `#tag`. */
  readonly filter: readonly string[];
  readonly trials: number | undefined;
}

/** The cases of all suites, with the reason for each that is not run. `only` applies across all suites. */
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

/** The reason for a case that the filter excludes. */
export function filteredOut(filter: readonly string[]): string {
  return `--filter ${filter.join(" ")}`;
}
