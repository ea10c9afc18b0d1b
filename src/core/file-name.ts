/** As a file's name, and the same on every system. */
export function fileNameOf(name: string): string {
  const plain = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 80);
  return plain === "" ? "case" : plain;
}
