import { nGrams, sharedCount } from "./n-grams.ts";

const ORDER = 4;

/**
 * BLEU of one text (Papineni et al., 2002): n-grams of up to four words, with the brevity penalty. Lengths that a short
 * text cannot have are left out, and the n-th length without a match counts as half of a match, a quarter and so on
 * (smoothing method 3 of Chen and Cherry, 2014). The same as `sentence_bleu` of sacrebleu with its defaults.
 */
export function bleu(text: string, references: readonly string[]): number {
  const words = wordsOf(text);
  const others = references.map(wordsOf);
  let logarithms = 0;
  let orders = 0;
  let matched = 0;
  let smoothing = 1;
  for (let size = 1; size <= ORDER && size <= words.length; size += 1) {
    const grams = nGrams(words, size);
    const matches = sharedCount(grams, mostOf(others.map((other) => nGrams(other, size))));
    if (matches === 0) smoothing *= 2;
    matched += matches;
    orders = size;
    logarithms += Math.log((matches === 0 ? 1 / smoothing : matches) / (words.length - size + 1));
  }
  if (matched === 0) return 0;
  return Math.min(1, brevityPenalty(words.length, others) * Math.exp(logarithms / orders));
}

/** The highest count of each n-gram in any reference. */
function mostOf(all: readonly ReadonlyMap<string, number>[]): ReadonlyMap<string, number> {
  const most = new Map<string, number>();
  for (const counts of all) for (const [gram, count] of counts) most.set(gram, Math.max(count, most.get(gram) ?? 0));
  return most;
}

/** Uses the reference with the closest length; of two equally close ones, the shorter. */
function brevityPenalty(length: number, references: readonly (readonly string[])[]): number {
  const [nearest = 0] = references
    .map((words) => words.length)
    .toSorted((a, b) => Math.abs(a - length) - Math.abs(b - length) || a - b);
  return length >= nearest ? 1 : Math.exp(1 - nearest / length);
}

/** Like the script mteval-v13a: punctuation marks are words, except inside numbers. */
function wordsOf(text: string): readonly string[] {
  const line = text
    .trimEnd()
    .replaceAll("<skipped>", "")
    .replaceAll("-\n", "")
    .replaceAll("\n", " ")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">");
  return ` ${line} `
    .replaceAll(/[!-&(-+/:-@[-`{-~]/g, " $& ")
    .replaceAll(/([^0-9])([.,])/gu, "$1 $2 ")
    .replaceAll(/([.,])([^0-9])/gu, " $1 $2")
    .replaceAll(/([0-9])(-)/g, "$1 $2 ")
    .split(/\s+/u)
    .filter((word) => word !== "");
}
