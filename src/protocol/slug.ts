const MAX = 63;

/** Converts a display name to an internal name: `My Reviewer (v2)` → `my-reviewer-v2`. */
export function slugOf(name: string): string {
  const plain = name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/^[^a-z]+/, "")
    .slice(0, MAX)
    .replace(/-+$/, "");
  return plain === "" ? "agent" : plain;
}

/** The same, avoiding names that are taken. */
export function freeSlug(name: string, taken: readonly string[]): string {
  const plain = slugOf(name);
  for (let count = 1; ; count += 1) {
    const end = count === 1 ? "" : `-${count}`;
    const slug = `${plain.slice(0, MAX - end.length)}${end}`;
    if (!taken.includes(slug)) return slug;
  }
}
