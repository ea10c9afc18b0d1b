import { relative } from "node:path";
import type { Configuration } from "../../config/load.ts";
import type { TrustBook } from "../../config/trust/trust-book.ts";
import type { TrustItem } from "../../config/trust/trust-item.ts";
import { KIND_WORDS, wideningText } from "../../config/trust/words.ts";
import { paintPatch } from "../workspace/diff-view.ts";
import { escapeHidden } from "../../words/hidden-text.ts";

/** A path relative to the current directory, if it is inside it. */
export function pathHere(path: string): string {
  const here = relative(process.cwd(), path);
  return escapeHidden(here === "" || here.startsWith("..") ? path : here);
}

/** What trusting an item allows, and what changed since it was last trusted. */
export async function itemText(item: TrustItem, book: TrustBook): Promise<string> {
  const { changesSince } = await import("../../config/trust/difference.ts");
  const before = book.find(item);
  const changes = changesSince(before, item);
  const state =
    before === undefined
      ? "has not been trusted yet"
      : `has changed since you trusted it on ${before.trusted_at.slice(0, 10)}`;
  const lines = [
    `${pathHere(item.path)} (${KIND_WORDS[item.kind]}) ${state}. Trusting it:`,
    ...item.widens.map((one) => `  • ${escapeHidden(wideningText(one))}`),
    ...(item.files.length > 1
      ? ["It covers these files:", ...item.files.map(({ path }) => `  ${pathHere(path)}`)]
      : []),
    ...(changes ? ["", paintPatch(escapeHidden(changes).trimEnd())] : []),
  ];
  return `${lines.join("\n")}\n`;
}

/** Reports on standard error which settings of the project's files have no effect, and what to do. */
export function reportWithheld({ trust, withheld }: Pick<Configuration, "trust" | "withheld">): void {
  const untrusted = trust.filter(({ item, isTrusted }) => !isTrusted && item.widens.length > 0);
  for (const { item } of untrusted) {
    const fields = [...new Set(item.widens.map(({ field }) => field))];
    process.stderr.write(
      `${pathHere(item.path)} is not trusted, so these settings have no effect: ${escapeHidden(fields.join(", "))}.\n`,
    );
  }
  if (untrusted.length > 0) {
    const paths = untrusted.filter(({ item }) => item.kind === "agent" || item.kind === "suite");
    process.stderr.write(
      `To review and trust: capstan trust${paths.map(({ item }) => ` ${pathHere(item.path)}`).join("")}\n`,
    );
  }
  for (const { field, source, reason } of withheld)
    if (reason === "user settings")
      process.stderr.write(
        `${escapeHidden(field)} in ${escapeHidden(source)} has no effect: your own settings are stricter (projects_may_loosen).\n`,
      );
}
