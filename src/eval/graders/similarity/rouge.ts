import { nGrams, sharedCount } from "./n-grams.ts";

/**
 * ROUGE (Lin, 2004) as F1, without stemming: the same as google-research's rouge_score for ASCII texts. That one drops
 * all other letters; here they count as letters too.
 */

/** By shared runs of `size` words. */
export function rougeN(text: string, reference: string, size: number): number {
  const [found, expected] = [wordsOf(text), wordsOf(reference)];
  const runs = (words: readonly string[]): number => Math.max(0, words.length - size + 1);
  return f1(sharedCount(nGrams(found, size), nGrams(expected, size)), runs(found), runs(expected));
}

/** By the longest common subsequence of words. */
export function rougeL(text: string, reference: string): number {
  const [found, expected] = [wordsOf(text), wordsOf(reference)];
  return f1(longestCommon(found, expected), found.length, expected.length);
}

function f1(matches: number, found: number, expected: number): number {
  // Precision is matches / found, recall matches / expected; this is their harmonic mean.
  return matches === 0 ? 0 : (2 * matches) / (found + expected);
}

export function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}

function longestCommon(a: readonly string[], b: readonly string[]): number {
  let row = new Uint32Array(b.length + 1);
  let next = new Uint32Array(b.length + 1);
  for (const word of a) {
    for (let index = 0; index < b.length; index += 1)
      next[index + 1] = word === b[index] ? (row[index] ?? 0) + 1 : Math.max(row[index + 1] ?? 0, next[index] ?? 0);
    [row, next] = [next, row];
  }
  return row[b.length] ?? 0;
}
