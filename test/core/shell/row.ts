/**
 * A command line, and the commands that it is read as: program and words, with « » around what is only known when it runs.
 * "unclear" when a person has to be asked.
 */
export type Row = readonly [line: string, read: readonly string[] | "unclear"];
