import type { RecordedNews } from "../../../core/suite/cassette.ts";
import { withoutVarying } from "../../../core/varying/rules.ts";
import { mapTexts } from "../places.ts";

/** Tool results without varying parts; `parts` are the removed pieces, by kind. */
export interface Steady {
  readonly news: readonly RecordedNews[];
  readonly parts: ReadonlyMap<string, readonly string[]>;
}

/** What the case's `ignore` names. */
const NAMED = "named by the case";

/** Applies only to tool results: in a message every word is significant. `ignore` applies to everything. */
export function steady(news: readonly RecordedNews[], ignore: readonly RegExp[]): Steady {
  const parts = new Map<string, string[]>();
  const taken = (kind: string, part: string): void => void parts.set(kind, [...(parts.get(kind) ?? []), part]);
  const named = (text: string): string =>
    ignore.reduce(
      (sofar, pattern) =>
        sofar.replace(pattern, (part) => {
          taken(NAMED, part);
          return "${IGNORED}";
        }),
      text,
    );
  const plain = (text: string): string => withoutVarying(named(text), taken);
  return {
    news: news.map((one) => ({
      ...one,
      content: one.content.map(
        (block) => mapTexts(block, block["type"] === "tool_result" ? plain : named) as typeof block,
      ),
    })),
    parts,
  };
}

/** The kinds of parts that were removed from only one of them, or differ. */
export function ignoredKinds(one: Steady, other: Steady): readonly string[] {
  const kinds = new Set([...one.parts.keys(), ...other.parts.keys()]);
  return [...kinds].filter((kind) => JSON.stringify(one.parts.get(kind)) !== JSON.stringify(other.parts.get(kind)));
}
