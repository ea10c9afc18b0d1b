const FENCE = /^\s*(?:`{3,}|~{3,})/;

/**
 * Completes Markdown that is still streaming: closes open marks and removes incomplete ones, so that the display does
 * not jump when the rest arrives.
 */
export function completeMarkdown(source: string): string {
  const lines = source.split("\n");
  const last = lines.pop() ?? "";
  const inCode = lines.filter((line) => FENCE.test(line)).length % 2 === 1;
  if (inCode) return [...lines, /^\s*[`~]+$/.test(last) ? "" : last].join("\n");
  // Skips a last line that contains only the start of a fence, bullet or underline.
  if (!FENCE.test(last) && !/^\s*(?:[-=*+#`~]*|\d+[.)]?)\s*$/.test(last)) lines.push(last);
  // A table needs at least two rows.
  const rows = lines.length - 1 - lines.findLastIndex((line) => !/^\s*\|/.test(line));
  if (rows < 3) lines.splice(lines.length - rows, rows);
  return closeMarks(lines.join("\n").replace(/(?:[*_~]{1,3}|`{1,2})$/, ""));
}

function closeMarks(text: string): string {
  if (isOpen(text, "`")) return `${text.trimEnd()}\``;
  const linked = text.replace(/!?\[([^\]\n]*)\](?:\([^)\s]*)?$/, "$1");
  const struck = isOpen(linked, "~~") ? `${linked.trimEnd()}~~` : linked;
  const bold = isOpen(struck, "**") ? `${struck.trimEnd()}**` : struck;
  return isOpen(bold.replaceAll("**", ""), "*") ? `${bold.trimEnd()}*` : bold;
}

/** Whether a mark occurs an odd number of times in the last paragraph. */
function isOpen(text: string, mark: string): boolean {
  const paragraph = text.slice(text.lastIndexOf("\n\n") + 1).replaceAll(/^\s*[*+-]\s/gm, "");
  const plain = mark === "`" ? paragraph.replaceAll(/^\s*`{3,}.*$/gm, "") : paragraph.replaceAll(/`[^`]*`/g, "");
  // A star between spaces is not a mark.
  if (mark === "*" && !/\S/.test(plain[plain.lastIndexOf(mark) + 1] ?? "")) return false;
  return plain.split(mark).length % 2 === 0;
}
