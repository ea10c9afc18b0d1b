/** Tokenizes a page in one pass: unclosed parts extend to the end, and nothing is read twice. */
export type HtmlToken =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "open"; readonly tag: string; readonly attributes: string }
  | { readonly kind: "close"; readonly tag: string };

/** Their content is not HTML, or not visible. */
const SKIPPED = ["script", "style", "noscript", "template", "svg", "iframe", "object"];

export function* htmlTokens(html: string): Generator<HtmlToken> {
  const lower = html.toLowerCase();
  let at = 0;
  while (at < html.length) {
    const start = html.indexOf("<", at);
    if (start < 0) return yield { kind: "text", text: html.slice(at) };
    if (start > at) yield { kind: "text", text: html.slice(at, start) };
    if (html.startsWith("<!--", start)) {
      at = after(html, "-->", start + 4);
      continue;
    }
    const name = /^<(\/?)([a-z][a-z0-9:-]*)/.exec(lower.slice(start, start + 64));
    if (name === null) {
      const isMark = html[start + 1] === "!" || html[start + 1] === "?";
      if (!isMark) yield { kind: "text", text: "<" };
      at = isMark ? after(html, ">", start) : start + 1;
      continue;
    }
    const [whole, slash, tag = ""] = name;
    const end = tagEnd(html, start + whole.length);
    if (slash === "/") yield { kind: "close", tag };
    else yield { kind: "open", tag, attributes: html.slice(start + whole.length, end) };
    at = end + 1;
    if (slash === "" && SKIPPED.includes(tag)) at = after(html, ">", after(lower, `</${tag}`, at));
  }
}

function after(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found < 0 ? text.length : found + mark.length;
}

/** The index of the `>` that ends a tag, ignoring those in quotes. */
function tagEnd(html: string, from: number): number {
  let quote = "";
  for (let at = from; at < html.length; at++) {
    const letter = html.charAt(at);
    if (quote !== "") quote = letter === quote ? "" : quote;
    else if (letter === ">") return at;
    else if ((letter === '"' || letter === "'") && html[at - 1] === "=") quote = letter;
  }
  return html.length;
}

export function attribute(attributes: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, "i").exec(
    attributes.slice(0, MOST_ATTRIBUTES),
  );
  const value = found?.[1] ?? found?.[2] ?? found?.[3];
  return value === undefined ? undefined : decodeEntities(value).trim();
}

const MOST_ATTRIBUTES = 10_000;

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  ndash: "–",
  mdash: "—",
  hellip: "…",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  laquo: "«",
  raquo: "»",
  bull: "•",
  middot: "·",
  copy: "©",
  reg: "®",
  trade: "™",
  euro: "€",
  times: "×",
  rarr: "→",
  larr: "←",
  auml: "ä",
  ouml: "ö",
  uuml: "ü",
  Auml: "Ä",
  Ouml: "Ö",
  Uuml: "Ü",
  szlig: "ß",
  eacute: "é",
  egrave: "è",
  agrave: "à",
  ccedil: "ç",
};

/** Decodes entities. Unknown ones stay unchanged. */
export function decodeEntities(text: string): string {
  return text.replaceAll(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));/gi, (whole, hex, decimal, name) => {
    if (typeof name === "string") return ENTITIES[name] ?? whole;
    const code = typeof hex === "string" ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10_ff_ff && !(code >= 0xd8_00 && code <= 0xdf_ff) ? String.fromCodePoint(code) : whole;
  });
}
