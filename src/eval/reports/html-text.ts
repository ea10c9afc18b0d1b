import { escapeMarkup } from "./printable.ts";

/** A piece of a page. Only `markup` creates one from text, so that nothing gets into a page unescaped. */
export class Html {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

type Part = Html | string | number | undefined | readonly Part[];

/** HTML with escaped texts. Absent parts and the source's indentation are left out. */
export function markup(source: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const lines = source.map((text) => text.replaceAll(/\n +/g, "\n"));
  return new Html(String.raw({ raw: lines }, ...parts.map(sourceOf)));
}

function sourceOf(part: Part): string {
  if (part === undefined) return "";
  if (part instanceof Html) return part.source;
  if (typeof part === "string") return escapeMarkup(part).replaceAll("'", "&#39;");
  if (typeof part === "number") return String(part);
  return part.map(sourceOf).join("");
}
