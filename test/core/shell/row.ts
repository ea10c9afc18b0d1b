/**
 * A command line, and the commands that it is read as: program and words, with « » around what is only known when it runs.
 * "unclear" when they are not known; "option" when one of them has an option that runs a program. "asks" when they are, for deny rules, but the grammar has no such line: no rule can
 * allow it.
 */
export type Row = readonly [line: string, read: readonly string[] | "unclear" | "option", asks?: "asks"];
