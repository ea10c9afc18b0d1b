/** A figure and its 95 % confidence interval. */
export interface Estimate {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

const RESAMPLES = 2_000;
/** Fixed, so that the same samples always give the same interval. */
const SEED = 0x63707374;

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const below = sorted[Math.ceil(middle) - 1] ?? Number.NaN;
  const above = sorted[Math.floor(middle)] ?? Number.NaN;
  return (below + above) / 2;
}

export function medianOf(values: readonly number[]): Estimate {
  return bootstrap(values.length, (pick) => median(pick(values)));
}

/** Resamples rounds: sample `i` of both sides was taken in the same round, so noise that hit both sides cancels out. */
export function ratioOfMedians(a: readonly number[], b: readonly number[]): Estimate {
  return bootstrap(sameLength(a, b), (pick) => median(pick(a)) / median(pick(b)));
}

export function differenceOfMedians(a: readonly number[], b: readonly number[]): Estimate {
  return bootstrap(sameLength(a, b), (pick) => median(pick(a)) - median(pick(b)));
}

type Pick = (values: readonly number[]) => number[];

/** The statistic of the samples, and the middle 95 % of its values over resamples. */
function bootstrap(length: number, statistic: (pick: Pick) => number): Estimate {
  const random = generator(SEED);
  const redrawn = Array.from({ length: RESAMPLES }, () => {
    const rounds = Array.from({ length }, () => Math.floor(random() * length));
    return statistic((values) => rounds.map((round) => values[round] ?? Number.NaN));
  }).toSorted((a, b) => a - b);
  const at = (share: number): number => redrawn[Math.round(share * (RESAMPLES - 1))] ?? Number.NaN;
  return { value: statistic((values) => [...values]), low: at(0.025), high: at(0.975) };
}

function sameLength(a: readonly number[], b: readonly number[]): number {
  if (a.length !== b.length) throw new Error(`Rounds are compared: ${a.length} samples do not match ${b.length}.`);
  return a.length;
}

/** Mulberry32: numbers from 0 (inclusive) to 1 (exclusive). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
