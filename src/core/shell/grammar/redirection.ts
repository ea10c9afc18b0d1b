import type { ShellCursor } from "./cursor.ts";
import type { PlainWord } from "./plain-word.ts";
import type { WrittenRedirection } from "./written-command.ts";

/** A here-document that has started: its text follows on the next line. */
export interface PendingDocument {
  readBody(cursor: ShellCursor): void;
}

const OPERATOR = /([0-9]?)(<<<|<<-|<<|<&|<>|<|>>|>\||>&|>)|()(&>>|&>)/y;
const DELIMITER = /'([A-Za-z0-9_]+)'|"([A-Za-z0-9_]+)"|([A-Za-z0-9_]+)/y;
const NETWORK = /^\/dev\/(?:tcp|udp)(?:\/|$)/;

/** Reads a redirection, if there is one here. */
export function readRedirection(
  cursor: ShellCursor,
  readWord: () => PlainWord,
  hasDocument: boolean,
): { readonly redirection: WrittenRedirection; readonly document?: PendingDocument } | undefined {
  OPERATOR.lastIndex = cursor.at;
  const found = OPERATOR.exec(cursor.text);
  if (found === null) return undefined;
  const start = cursor.at;
  const descriptor = found[1] ?? "";
  const operator = found[2] ?? found[4] ?? "";
  cursor.at += found[0].length;
  if (cursor.peek() === "(") cursor.refuse(`process substitution \`${operator}(…)\``, start);
  if (operator === "<&" || operator === "<>") cursor.refuse(`\`${operator}\``, start);
  if (operator === ">&") return { redirection: copyOf(cursor, descriptor, start) };
  cursor.takeMatch(/[ \t]+/y);
  if (operator === "<<" || operator === "<<-") {
    if (hasDocument) cursor.refuse("two here-documents on a line", start);
    return hereDocument(cursor, descriptor, operator);
  }
  if (/^[<>]\(/.test(cursor.text.slice(cursor.at, cursor.at + 2)))
    cursor.refuse(`process substitution \`${cursor.peek()}(…)\``);
  const target = readWord();
  if (
    target.value === undefined
      ? /^["']?[/$]/.test(target.source) && /\/dev\//.test(target.source)
      : NETWORK.test(target.value)
  )
    cursor.refuse("a redirection to the network", start);
  return { redirection: { descriptor, operator, target } };
}

/** `2>&1` and `2>&-`. */
function copyOf(cursor: ShellCursor, descriptor: string, start: number): WrittenRedirection {
  const target = cursor.takeMatch(/[0-9-](?=[\s;&|)]|$)/y);
  if (target === "") cursor.refuse("`>&` other than `>&1` or `>&-`", start);
  return { descriptor, operator: ">&", target: { source: target, value: target } };
}

/** Its text is literal: the delimiter is quoted, or it contains nothing to expand. */
function hereDocument(
  cursor: ShellCursor,
  descriptor: string,
  operator: string,
): { readonly redirection: WrittenRedirection; readonly document: PendingDocument } {
  const start = cursor.at;
  DELIMITER.lastIndex = start;
  const found = DELIMITER.exec(cursor.text);
  const delimiter = found?.[1] ?? found?.[2] ?? found?.[3] ?? "";
  cursor.at += found?.[0].length ?? 0;
  if (delimiter === "" || !/^$|[\s;&|)]/.test(cursor.peek())) cursor.refuse("this end of a here-document", start);
  const target = { source: "", value: "" };
  return {
    redirection: { descriptor, operator, target },
    document: {
      readBody(inner) {
        const from = inner.at;
        for (;;) {
          if (inner.isAtEnd) inner.refuse(`a here-document without its end, ${delimiter}`, start);
          const line = inner.takeMatch(/[^\n]*/y);
          const isEnd = (operator === "<<-" ? line.replace(/^\t+/, "") : line) === delimiter;
          if (isEnd) {
            target.value = inner.text.slice(from, inner.at - line.length);
            break;
          }
          inner.take("\n");
        }
        if (found?.[3] !== undefined && /[$`\\]/.test(target.value))
          inner.refuse(
            `\`$\`, backquotes and backslashes in a here-document, unless its end is quoted as in '${delimiter}'`,
            start,
          );
      },
    },
  };
}
