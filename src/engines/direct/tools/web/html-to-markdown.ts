import { attribute, htmlTokens, decodeEntities } from "./html-tokens.ts";

/** Tags that form their own paragraph. */
const BLOCKS = new Set(
  "address article aside body dd details div dl dt fieldset figcaption figure footer form header html main nav p section summary table tbody tfoot thead".split(
    " ",
  ),
);
const HEADING = /^h([1-6])$/;
/** Markers around the tag's content. */
const MARKS: Readonly<Record<string, string>> = { b: "**", strong: "**", i: "*", em: "*", code: "`" };
/** Open tags that a new tag closes. */
const UNCLOSED: Readonly<Record<string, readonly string[]>> = {
  li: ["li"],
  td: ["td", "th"],
  th: ["td", "th"],
  tr: ["td", "th"],
};
/** Deeper tags are ignored. */
const MOST_OPEN = 32;
/** Each level of these adds a prefix to every line. Nesting is limited by kind; deeper levels are flattened. */
const NESTED: Readonly<Record<string, string>> = { blockquote: "quote", ul: "list", ol: "list", li: "item" };
const MOST_NESTED = 5;
/** How many deeper tags are matched with their end tags. */
const MOST_DEEP = 200;
/** Characters. Conversion is synchronous and blocks the host. */
const MOST_HTML = 1_000_000;

interface Open {
  readonly tag: string;
  readonly attributes: string;
  readonly parts: string[];
}

/** Converts a page to Markdown: its visible text, with absolute links. Notes when the page was truncated. */
export function htmlToMarkdown(html: string, address: string): string {
  if (html.length <= MOST_HTML) return convertHtml(html, address);
  const note = `[The page has ${html.length} characters of HTML. Only the first ${MOST_HTML} were read.]`;
  return `${convertHtml(html.slice(0, MOST_HTML), address)}\n\n${note}`.trim();
}

function convertHtml(html: string, address: string): string {
  const root: Open = { tag: "", attributes: "", parts: [] };
  const open: Open[] = [root];
  const lists: { readonly isOrdered: boolean; count: number }[] = [];
  const add = (text: string): void => void open.at(-1)?.parts.push(text);
  const inside = (tag: string): boolean => open.some((one) => one.tag === tag);
  /** Tags nested too deep, inside the last one that is not. */
  const deep: string[] = [];
  const isTooDeep = (tag: string): boolean =>
    deep.length > 0 || open.filter((one) => NESTED[one.tag] === NESTED[tag]).length >= MOST_NESTED;
  const close = (tag: string): void => {
    const at = open.findLastIndex((one) => one.tag === tag);
    if (at <= 0) return;
    if (tag in NESTED) deep.length = 0;
    for (let last = open.pop(); last !== undefined; last = open.length > at ? open.pop() : undefined)
      add(renderElement(last));
  };
  const renderElement = ({ tag, attributes, parts }: Open): string => {
    const text = parts.join("");
    const heading = HEADING.exec(tag)?.[1];
    if (tag === "pre") return `\n\n\`\`\`\n${withoutEmptyEnds(text)}\n\`\`\`\n\n`;
    const trimmed = text.trim();
    if (trimmed === "") return " ";
    if (heading !== undefined) return `\n\n${"#".repeat(Number(heading))} ${oneLine(trimmed)}\n\n`;
    if (tag === "a") return renderLink(trimmed, attribute(attributes, "href"));
    if (tag === "blockquote") return `\n\n${trimmed.replaceAll(/^/gm, "> ")}\n\n`;
    if (tag === "td" || tag === "th") return ` ${oneLine(trimmed)} |`;
    if (tag === "li") return renderListItem(trimmed);
    if (tag === "ul" || tag === "ol") return `\n\n${trimmed}\n\n`;
    const mark = MARKS[tag] ?? "";
    return text.replace(trimmed, () => `${mark}${trimmed}${mark}`);
  };
  const renderLink = (text: string, href: string | undefined): string => {
    const target = href === undefined ? null : URL.parse(href, address);
    return target !== null && /^https?:$/.test(target.protocol) ? `[${oneLine(text)}](${target.href})` : text;
  };
  const renderListItem = (text: string): string => {
    const list = lists.at(-1);
    if (list !== undefined) list.count += 1;
    const sign = list?.isOrdered === true ? `${list.count}.` : "-";
    return `\n${sign} ${text.replaceAll(/\n{2,}/g, "\n").replaceAll("\n", "\n  ")}`;
  };
  for (const token of htmlTokens(html)) {
    if (token.kind === "text") {
      const text = decodeEntities(token.text);
      add(inside("pre") ? text : text.replaceAll(/\s+/g, " "));
      continue;
    }
    const { tag } = token;
    const isHeld = tag in MARKS ? !inside("pre") : isContainer(tag);
    if (tag in NESTED) {
      if (token.kind === "close" && deep.includes(tag)) {
        deep.length = deep.lastIndexOf(tag);
        add("\n");
        continue;
      }
      // An item without an end tag is closed by the next one.
      const isNext = tag === "li" && open.at(-1)?.tag === "li" && deep.length === 0;
      if (token.kind === "open" && !isNext && isTooDeep(tag)) {
        if (deep.length < MOST_DEEP && !(tag === "li" && deep.at(-1) === "li")) deep.push(tag);
        add(tag === "li" ? "\n- " : "\n\n");
        continue;
      }
    }
    if (token.kind === "close") {
      if (isHeld) close(tag);
      if (tag === "ul" || tag === "ol") lists.pop();
      if (BLOCKS.has(tag)) add("\n\n");
      continue;
    }
    if (tag === "br") add("\n");
    else if (tag === "hr") add("\n\n---\n\n");
    else if (tag === "img") add(picture(token.attributes));
    else if (tag === "ul" || tag === "ol") lists.push({ isOrdered: tag === "ol", count: 0 });
    const last = open.at(-1)?.tag ?? "";
    // Their end tags are optional.
    if (UNCLOSED[tag]?.includes(last) === true) close(last);
    if (tag === "tr") add("\n|");
    else if (BLOCKS.has(tag)) add("\n\n");
    if (isHeld && open.length < MOST_OPEN) open.push({ tag, attributes: token.attributes, parts: [] });
  }
  const [, first] = open;
  if (first !== undefined) close(first.tag);
  while (open.length > 1) close(open.at(-1)?.tag ?? "");
  return tidy(root.parts.join(""));
}

function isContainer(tag: string): boolean {
  return ["a", "pre", "blockquote", "td", "th", "ul", "ol", "li", "title"].includes(tag) || HEADING.test(tag);
}

function picture(attributes: string): string {
  const alt = attribute(attributes, "alt");
  return alt === undefined || alt === "" ? "" : `[image: ${oneLine(alt)}]`;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ");
}

/** Line by line: a pattern for trailing blanks would scan long runs of them repeatedly. */
function tidy(text: string): string {
  const lines = text.split("\n").map((line) => line.trimEnd());
  return lines
    .join("\n")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

function withoutEmptyEnds(text: string): string {
  const lines = text.split("\n");
  const first = lines.findIndex((line) => line !== "");
  return first < 0 ? "" : lines.slice(first, lines.findLastIndex((line) => line !== "") + 1).join("\n");
}
