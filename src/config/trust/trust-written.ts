import type { TrustBook } from "./trust-book.ts";
import type { TrustItem } from "./trust-item.ts";

/**
 * Trusts what a command has just written because a person asked for it: items whose files all contain exactly that
 * text, or what was trusted before.
 */
export function trustWritten(
  items: readonly TrustItem[],
  { book, texts, by }: { readonly book: TrustBook; readonly texts: ReadonlyMap<string, string>; readonly by: string },
): void {
  for (const item of items) {
    const before = book.find(item)?.files ?? [];
    const isWritten = item.files.some(({ path }) => texts.has(path));
    const isKnown = item.files.every(
      (file) =>
        texts.get(file.path) === file.text || before.some(({ path, hash }) => path === file.path && hash === file.hash),
    );
    if (isWritten && isKnown) book.add(item, by, new Date());
  }
}
