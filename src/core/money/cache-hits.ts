/** Of all tokens that the model was told, the share that its API had kept from before: from 0 to 1. */
export function cacheHitRate({
  input,
  read,
  written,
}: {
  /** Neither kept nor found. */
  readonly input: number;
  readonly read: number;
  readonly written: number;
}): number | undefined {
  const all = input + read + written;
  return all === 0 ? undefined : read / all;
}
