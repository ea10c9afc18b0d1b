/** Regular expressions in suites. */

/** JavaScript syntax: a slash inside is escaped with a backslash, or in a class such as `[^/]`. */
const BODY = /(?:[^/\\[]|\\.|\[(?:[^\]\\]|\\.)*\]|\[(?!(?:[^\]\\]|\\.)*\]))+/s.source;
/** Each flag once, in JavaScript's order: `/sub/ui` is more often a path. */
const PATTERN = new RegExp(`^/(${BODY})/(i?m?s?u?)$`, "s");

/**
 * The pattern in a text with slashes, such as `/^git /i`; undefined for other texts, including paths such as
 * `/srv/app/i`. Throws if it is not valid.
 */
export function patternIn(text: string): RegExp | undefined {
  const [, source, flags] = PATTERN.exec(text) ?? [];
  return source === undefined ? undefined : new RegExp(source, flags);
}

/**
 * Where only a pattern is allowed, the slashes may be omitted; the flag is then `u`. A text with slashes at both ends
 * that is not a pattern is ambiguous, and refused.
 */
export function readPattern(text: string): RegExp {
  const pattern = patternIn(text);
  if (pattern === undefined && /^\/.+\/[imsu]*$/s.test(text))
    throw new Error(
      "write a slash inside a pattern as \\/; after the last slash, only flags may follow, each once and in this order: imsu",
    );
  return pattern ?? new RegExp(text, "u");
}
