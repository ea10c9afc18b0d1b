/** How many single characters must be inserted, deleted or replaced; by code points, so that an emoji counts as one. */
export function levenshteinDistance(a: string, b: string): number {
  const [from, to] = [Array.from(a), Array.from(b)];
  let start = 0;
  while (start < from.length && start < to.length && from[start] === to[start]) start += 1;
  let end = 0;
  while (end < from.length - start && end < to.length - start && from.at(-1 - end) === to.at(-1 - end)) end += 1;
  return distance(from.slice(start, from.length - end), to.slice(start, to.length - end));
}

function distance(from: readonly string[], to: readonly string[]): number {
  // Computes the table of all pairs of prefixes row by row; only the previous row is needed.
  let row = Uint32Array.from({ length: to.length + 1 }, (_, index) => index);
  let next = new Uint32Array(to.length + 1);
  for (const [at, character] of from.entries()) {
    next[0] = at + 1;
    for (let index = 0; index < to.length; index += 1) {
      const replaced = (row[index] ?? 0) + (character === to[index] ? 0 : 1);
      next[index + 1] = Math.min(replaced, (row[index + 1] ?? 0) + 1, (next[index] ?? 0) + 1);
    }
    [row, next] = [next, row];
  }
  return row[to.length] ?? 0;
}

/** 1 minus the distance as a share of the longer text. */
export function levenshteinSimilarity(a: string, b: string): number {
  const longer = Math.max(Array.from(a).length, Array.from(b).length);
  return longer === 0 ? 1 : 1 - levenshteinDistance(a, b) / longer;
}
