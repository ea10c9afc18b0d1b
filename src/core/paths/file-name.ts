const LONGEST = 80;
/** Meaningful characters that the file name can't contain. Lost punctuation does not matter. */
const LOST = /[^\p{ASCII}\p{M}\p{P}\p{Z}]/u;

/**
 * A file name that works on every system. If letters are lost, such as other scripts or a long ending, a hash of the
 * whole name keeps two names distinct.
 */
export function fileNameOf(name: string): string {
  const decomposed = name.normalize("NFKD");
  const plain = decomposed
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  const short = plain === "" ? "case" : plain.slice(0, LONGEST);
  if (plain.length <= LONGEST && !LOST.test(decomposed)) return short;
  return `${short.replace(/-$/, "")}-${hashOf(name.normalize("NFC"))}`;
}

/** FNV-1a over UTF-16, as 8 hex digits. Collision attacks don't matter here. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
