import type { RecordedNews } from "../../../core/suite/cassette.ts";
import { withoutVarying } from "../../../core/varying/varying-rules.ts";
import { mapTexts } from "../placeholders.ts";

/** Tool results without varying parts; `parts` are the removed pieces, by kind. */
export interface Steady {
  readonly news: readonly RecordedNews[];
  readonly parts: ReadonlyMap<string, readonly string[]>;
}

/** What the case's `ignore` names. */
const NAMED = "named by the case";

/** An interrupt decides how far these calls got. */
const INTERRUPTED = "calls that were interrupted";

/** What a comparison leaves out. */
export interface Leeway {
  /** Patterns that the case names. They apply to every text. */
  readonly ignore: readonly RegExp[];
  /** The calls whose results depend on the moment of an interrupt. */
  readonly interrupted: ReadonlySet<string>;
}

/** Drops what varies by itself, but only from tool results: in a message every word counts. */
export function steady(news: readonly RecordedNews[], { ignore, interrupted }: Leeway): Steady {
  const parts = new Map<string, string[]>();
  const collect = (kind: string, part: string): void => void parts.set(kind, [...(parts.get(kind) ?? []), part]);
  const replaceNamed = (text: string): string =>
    ignore.reduce(
      (sofar, pattern) =>
        sofar.replace(pattern, (part) => {
          collect(NAMED, part);
          return "${IGNORED}";
        }),
      text,
    );
  const plain = (text: string): string => withoutVarying(replaceNamed(text), collect);
  const steadyBlock = (block: RecordedNews["content"][number]): typeof block => {
    const { type, tool_use_id: id } = block;
    if (type !== "tool_result") return mapTexts(block, replaceNamed) as typeof block;
    if (typeof id !== "string" || !interrupted.has(id)) return mapTexts(block, plain) as typeof block;
    collect(INTERRUPTED, JSON.stringify(block));
    return { type, tool_use_id: id };
  };
  return {
    news: news.map((one) => ({ ...one, content: one.content.map(steadyBlock) })),
    parts,
  };
}

/** The kinds of parts that were removed from only one of them, or differ. */
export function ignoredKinds(one: Steady, other: Steady): readonly string[] {
  const kinds = new Set([...one.parts.keys(), ...other.parts.keys()]);
  return [...kinds].filter((kind) => JSON.stringify(one.parts.get(kind)) !== JSON.stringify(other.parts.get(kind)));
}
