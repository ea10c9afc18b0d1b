import { createTwoFilesPatch } from "diff";
import type { TrustRecord } from "./trust-book.ts";
import type { TrustItem } from "./trust-item.ts";

/** The changes since a person trusted it, as a patch; undefined if nobody did. */
export function changesSince(before: TrustRecord | undefined, { files }: TrustItem): string | undefined {
  if (before === undefined) return undefined;
  const old = new Map(before.files.map((file) => [file.path, file]));
  const paths = new Set([...old.keys(), ...files.map(({ path }) => path)]);
  return [...paths]
    .toSorted()
    .flatMap((path) => {
      const [then, now] = [old.get(path), files.find((file) => file.path === path)];
      if (then?.hash === now?.hash) return [];
      return [createTwoFilesPatch(path, path, then?.text ?? "", now?.text ?? "", "trusted", "now", { context: 2 })];
    })
    .join("");
}
