/** Both lists without duplicates. Entries that are not text are compared by value. */
export function union<Entry>(below: readonly Entry[], above: readonly Entry[] = []): Entry[] {
  return [...new Map([...below, ...above].map((entry) => [JSON.stringify(entry), entry])).values()];
}
