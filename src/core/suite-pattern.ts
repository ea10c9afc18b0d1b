/** Regular expressions in suites. */

/** What a text between slashes stands for, such as `/^git /i`; undefined for other texts. Throws when it cannot be read. */
export function patternIn(text: string): RegExp | undefined {
  const [, source, flags] = /^\/(.+)\/([imsu]*)$/s.exec(text) ?? [];
  return source === undefined ? undefined : new RegExp(source, flags);
}

/** Where only a pattern can stand the slashes may be left out; the flag is `u` then. */
export function readPattern(text: string): RegExp {
  return patternIn(text) ?? new RegExp(text, "u");
}
