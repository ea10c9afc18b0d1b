/** What is told once although it is so in many places: the first of them, and how many others there are. */
export interface Alike<Item> {
  readonly first: Item;
  readonly others: number;
}

/** A request asks with the same instructions and tools as the one before: a change of them is one change. */
export function alike<Item extends { readonly what: string; readonly diff: string }>(
  items: readonly Item[],
): readonly Alike<Item>[] {
  const groups = Map.groupBy(items, ({ what, diff }) => JSON.stringify([what, diff]));
  return [...groups.values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [{ first, others: others.length }],
  );
}

/** Behind the number of the request. */
export function othersText(others: number): string {
  if (others === 0) return "";
  return others === 1 ? " and 1 other" : ` and ${others} others`;
}
