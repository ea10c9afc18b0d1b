/** Class names, without those that do not hold. */
export function cx(...names: readonly (string | false | undefined | null)[]): string {
  return names.filter(Boolean).join(" ");
}
