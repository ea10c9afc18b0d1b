/** How deep a body may nest, and how many values it may have: lists, objects, and what is in them. */
export const MAX_DEPTH = 200;
export const MAX_VALUES = 20_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPENINGS: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSINGS: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/**
 * What is too much in a text that may be JSON; undefined when nothing is. To parse a megabyte of empty lists takes a
 * hundred times its size, and every schema error as much again, so this is found out before either.
 */
export function excessIn(bytes: Uint8Array): "depth" | "values" | undefined {
  let depth = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) at = endOfText(bytes, at + 1);
    else if (byte === COMMA) values += 1;
    else if (OPENINGS.has(byte)) {
      values += 1;
      depth += 1;
    } else if (CLOSINGS.has(byte)) depth -= 1;
    if (depth > MAX_DEPTH) return "depth";
    if (values > MAX_VALUES) return "values";
  }
  return undefined;
}

function endOfText(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}
