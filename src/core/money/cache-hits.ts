/** The share of all input tokens that the API read from its cache: from 0 to 1. */
export function cacheHitRate({
  input,
  read,
  written,
}: {
  /** Neither written to nor read from the cache. */
  readonly input: number;
  readonly read: number;
  readonly written: number;
}): number | undefined {
  const all = input + read + written;
  return all === 0 ? undefined : read / all;
}
