// Apart from the schemas, which take longer to load than a list of sessions takes to print.

/** The text of a list of blocks, in order; other kinds of block are left out. */
export function textOf(content: readonly { type: string; text?: string }[]): string {
  return content.map((block) => (block.type === "text" ? (block.text ?? "") : "")).join("");
}
