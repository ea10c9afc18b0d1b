// Separate from the schemas, which take longer to load than a list of sessions takes to print.

/** The text of a list of blocks, in order; ignores other kinds of blocks. */
export function textOf(content: readonly { type: string; text?: string }[]): string {
  return content.map((block) => (block.type === "text" ? (block.text ?? "") : "")).join("");
}

/** Adds the full stop that some services omit. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/**
 * Added to a message after the files were rewound, because the model remembers the old content. Not written by a
 * person.
 */
export const REWIND_NOTE =
  "[The files in the working directory were brought back to an earlier state. Read them again before relying on them.]";
