/** Joins class names, skipping false ones. */
export function cx(...names: readonly (string | false | undefined | null)[]): string {
  return names.filter(Boolean).join(" ");
}
