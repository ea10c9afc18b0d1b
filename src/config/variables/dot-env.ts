import { CapstanError } from "../../core/errors.ts";
import { readTextFileIfThere } from "../yaml/text-file.ts";

/** The variables of a `.env` file; none if it does not exist. */
export function readDotEnv(path: string): Readonly<Record<string, string>> {
  const text = readTextFileIfThere(path, { what: "the variables in", code: "invalid_input" });
  return text === undefined ? {} : parseDotEnv(text, path);
}

const BLANK = /(?:[ \t\r\n]|#[^\n]*)*/y;
const NAME = /(?:export[ \t]+)?([A-Za-z_][\w.-]*)[ \t]*=[ \t]*/y;
const PLAIN_VALUE = /[^\n]*/y;
const AFTER_QUOTE = /[ \t\r]*(?:#[^\n]*)?(?=\n|$)/y;

/**
 * Node's own reader parses the values. It skips what it does not understand and may read past the end of a line, so the
 * entries are found and checked here. Errors never repeat the file's text: it contains secrets.
 */
function parseDotEnv(text: string, file: string): Record<string, string> {
  const entries: [name: string, value: string][] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    at = match === null ? at : pattern.lastIndex;
    return match;
  };
  const fail = (what: string): CapstanError => {
    const line = text.slice(0, at).split("\n").length;
    return new CapstanError("invalid_input", `${file}:${line} ${what}`, { data: { file, line } });
  };
  for (take(BLANK); at < text.length; take(BLANK)) {
    const name = take(NAME)?.[1];
    if (name === undefined) throw fail("expected NAME=value, or # and a comment");
    const start = at;
    const quote = /["'`]/.exec(text.charAt(at))?.[0];
    if (quote === undefined) take(PLAIN_VALUE);
    else {
      const end = text.indexOf(quote, at + 1);
      if (end < 0) throw fail(`${name}: expected a closing ${quote} (found the end of the file)`);
      at = end + 1;
    }
    entries.push([
      name,
      process.getBuiltinModule("node:util").parseEnv(`VALUE=${text.slice(start, at)}`)["VALUE"] ?? "",
    ]);
    if (quote !== undefined && take(AFTER_QUOTE) === null)
      throw fail(`${name}: expected the end of the line after the closing ${quote}`);
  }
  return Object.fromEntries(entries);
}
