const LONGEST = 80;
/** What says something and has no place in the name. Punctuation has none either, and is not missed. */
const LOST = /[^\p{ASCII}\p{M}\p{P}\p{Z}]/u;

/**
 * As a file's name, and the same on every system. Where letters of the name are lost, as of other scripts or at its end,
 * a hash of all of it keeps two names apart.
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

/** FNV-1a over UTF-16, as 8 hexadecimal digits. Nobody has to be kept from finding two names with one hash. */
function hashOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return (hash >>> 0).toString(16).padStart(8, "0");
}
