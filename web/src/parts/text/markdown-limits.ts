/**
 * Whether a text can be rendered as Markdown quickly. Thousands of nested levels take the parser minutes and overflow the
 * stack; no readable message looks like that.
 */

/** In characters. */
const LONGEST = 60_000;
const DEEPEST = 50;
/** Table cells and footnote references: each becomes several elements. */
const MOST_CELLS = 3_000;
const MOST_NOTES = 200;
/** In columns before a list marker: two or more are a level. */
const WIDEST_INDENT = 80;

const FENCE = /^ {0,3}(?:```|~~~)/;
const MARKS = /^(?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])))+/;
const MARK = />|[-*+](?=[ \t])|\d[.)]/g;
const INDENTED_MARK = new RegExp(`^[ \\t]{${WIDEST_INDENT},}(?:[-*+>]|\\d+[.)])`);
const RUN = /[*_~]+/g;

export function canBeLaidOut(text: string): boolean {
  if (text.length > LONGEST) return false;
  let isCode = false;
  let open = 0;
  let cells = 0;
  let notes = 0;
  for (const line of text.split("\n")) {
    if (FENCE.test(line)) isCode = !isCode;
    if (isCode) continue;
    // Emphasis ends with its paragraph.
    open = line.trim() === "" ? 0 : open + countOpened(line);
    cells += occurrences(line, "|");
    notes += occurrences(line, "[^");
    const marks = MARKS.exec(line)?.[0].match(MARK)?.length ?? 0;
    if (marks > DEEPEST || INDENTED_MARK.test(line) || open > DEEPEST) return false;
  }
  return cells <= MOST_CELLS && notes <= MOST_NOTES;
}

/** How much emphasis a line opens without closing it. A line of nothing else is a horizontal rule. */
function countOpened(line: string): number {
  if (/^\s*[*_~]+\s*$/.test(line)) return 0;
  let deepest = 0;
  let depth = 0;
  for (const { 0: run, index } of line.matchAll(RUN)) {
    const isOpener = /\S/.test(line[index + run.length] ?? " ") && !/[\p{L}\p{N}]/u.test(line[index - 1] ?? " ");
    depth = isOpener ? depth + run.length : Math.max(0, depth - run.length);
    deepest = Math.max(deepest, depth);
  }
  return deepest > DEEPEST ? deepest : depth;
}

function occurrences(line: string, what: string): number {
  return line.split(what).length - 1;
}
