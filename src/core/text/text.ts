// Apart from the schemas, which take longer to load than a list of sessions takes to print.

/** The text of a list of blocks, in order; other kinds of block are left out. */
export function textOf(content: readonly { type: string; text?: string }[]): string {
  return content.map((block) => (block.type === "text" ? (block.text ?? "") : "")).join("");
}

/** With the full stop that some services leave out. */
export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

/** Put beside a message after the files were rewound: the model remembers what is not so any more. No words of a person. */
export const REWIND_NOTE =
  "[The files in the working directory were brought back to an earlier state. Read them again before relying on them.]";
