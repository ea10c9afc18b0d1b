/** How often each run of `size` words occurs in a list of words. */
export function nGrams(words: readonly string[], size: number): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (let at = 0; at + size <= words.length; at += 1) {
    // Words contain no whitespace.
    const gram = words.slice(at, at + size).join(" ");
    counts.set(gram, (counts.get(gram) ?? 0) + 1);
  }
  return counts;
}

/** How many of `found` are in `expected`, each counted at most as often as it occurs there. */
export function sharedCount(found: ReadonlyMap<string, number>, expected: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const [gram, count] of found) sum += Math.min(count, expected.get(gram) ?? 0);
  return sum;
}
