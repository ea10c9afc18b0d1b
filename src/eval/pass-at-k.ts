/**
 * Given c passes in n trials: the probability that at least one of k trials passes, and that all do. Unbiased estimates
 * over all ways to choose k of the n.
 */
export function passAtK(trials: number, passed: number): { readonly any: number[]; readonly all: number[] } {
  const ks = Array.from({ length: trials }, (_, index) => index + 1);
  return {
    any: ks.map((k) => 1 - share(trials - passed, trials, k)),
    all: ks.map((k) => share(passed, trials, k)),
  };
}

/** C(some, k) / C(all, k), without large numbers. */
function share(some: number, all: number, k: number): number {
  if (some < k) return 0;
  let product = 1;
  for (let index = 0; index < k; index += 1) product *= (some - index) / (all - index);
  return product;
}
