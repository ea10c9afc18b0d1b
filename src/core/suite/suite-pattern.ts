/** Regular expressions in suites. */

/** As JavaScript has it: a slash inside has a backslash before it, or stands in a class such as `[^/]`. */
const BODY = /(?:[^/\\[]|\\.|\[(?:[^\]\\]|\\.)*\]|\[(?!(?:[^\]\\]|\\.)*\]))+/s.source;
/** Each flag once, in the order in which JavaScript names them: `/sub/ui` is more often a path. */
const PATTERN = new RegExp(`^/(${BODY})/(i?m?s?u?)$`, "s");

/**
 * What a text between slashes stands for, such as `/^git /i`; undefined for other texts, and so for paths such as
 * `/srv/app/i`. Throws when it cannot be read.
 */
export function patternIn(text: string): RegExp | undefined {
  const [, source, flags] = PATTERN.exec(text) ?? [];
  return source === undefined ? undefined : new RegExp(source, flags);
}

/**
 * Where only a pattern can stand the slashes may be left out; the flag is `u` then. What has them at both ends and yet is
 * no pattern could be meant in two ways, and is refused.
 */
export function readPattern(text: string): RegExp {
  const pattern = patternIn(text);
  if (pattern === undefined && /^\/.+\/[imsu]*$/s.test(text))
    throw new Error(
      "a slash inside of a pattern is written \\/, and behind the last one stand flags, each once and in this order: imsu",
    );
  return pattern ?? new RegExp(text, "u");
}
