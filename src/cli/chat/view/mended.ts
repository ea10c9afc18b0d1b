const FENCE = /^\s*(?:`{3,}|~{3,})/;

/**
 * Markdown that is cut off in the middle, made whole for the moment: a mark that was opened is closed, one that has
 * only begun is left out, so that what is shown does not jump when the rest comes.
 */
export function mended(source: string): string {
  const lines = source.split("\n");
  const last = lines.pop() ?? "";
  const inCode = lines.filter((line) => FENCE.test(line)).length % 2 === 1;
  if (inCode) return [...lines, /^\s*[`~]+$/.test(last) ? "" : last].join("\n");
  // A fence, a bullet or an underline is nothing yet.
  if (!FENCE.test(last) && !/^\s*(?:[-=*+#`~]*|\d+[.)]?)\s*$/.test(last)) lines.push(last);
  // Rows are a table only with two of them.
  const rows = lines.length - 1 - lines.findLastIndex((line) => !/^\s*\|/.test(line));
  if (rows < 3) lines.splice(lines.length - rows, rows);
  return closed(lines.join("\n").replace(/(?:[*_~]{1,3}|`{1,2})$/, ""));
}

function closed(text: string): string {
  if (isOpen(text, "`")) return `${text.trimEnd()}\``;
  const linked = text.replace(/!?\[([^\]\n]*)\](?:\([^)\s]*)?$/, "$1");
  const struck = isOpen(linked, "~~") ? `${linked.trimEnd()}~~` : linked;
  const bold = isOpen(struck, "**") ? `${struck.trimEnd()}**` : struck;
  return isOpen(bold.replaceAll("**", ""), "*") ? `${bold.trimEnd()}*` : bold;
}

/** Whether a mark stands an odd number of times in the paragraph that is being written. */
function isOpen(text: string, mark: string): boolean {
  const paragraph = text.slice(text.lastIndexOf("\n\n") + 1).replaceAll(/^\s*[*+-]\s/gm, "");
  const plain = mark === "`" ? paragraph.replaceAll(/^\s*`{3,}.*$/gm, "") : paragraph.replaceAll(/`[^`]*`/g, "");
  // A star between spaces is no mark.
  if (mark === "*" && !/\S/.test(plain[plain.lastIndexOf(mark) + 1] ?? "")) return false;
  return plain.split(mark).length % 2 === 0;
}
