/** Equal differences: the first one, and how many others there are. */
export interface DifferenceGroup<Item> {
  readonly first: Item;
  readonly others: number;
}

/** Groups equal differences: a change of instructions or tools shows up in every later request. */
export function groupDifferences<Item extends { readonly what: string; readonly diff: string }>(
  items: readonly Item[],
): readonly DifferenceGroup<Item>[] {
  const groups = Map.groupBy(items, ({ what, diff }) => JSON.stringify([what, diff]));
  return [...groups.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ first, others: others.length }],
  );
}

/** Follows the number of the request. */
export function othersText(others: number): string {
  if (others === 0) return "";
  return others === 1 ? " and 1 other" : ` and ${others} others`;
}
