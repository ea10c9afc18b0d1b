/**
 * Wildcards within one word or path component. Matching takes time proportional to pattern times text, for any pattern:
 * the text comes from a model, and must not be able to block the host.
 */
export interface Glob {
  /** The text, if the pattern has no wildcard. */
  readonly literal: string | undefined;
  readonly tokens: readonly Token[];
}

/** A character matches itself. */
export type Token = string | Wildcard;

type Wildcard =
  | { readonly kind: "star" }
  | { readonly kind: "one" }
  | { readonly kind: "class"; readonly test: CharacterTest };
type CharacterTest = (character: string) => boolean;

export const STAR: Wildcard = { kind: "star" };
const ONE: Wildcard = { kind: "one" };

export function globOf(tokens: readonly Token[]): Glob {
  return { literal: tokens.every((token) => typeof token === "string") ? tokens.join("") : undefined, tokens };
}

/** `*`, `?` and `[a-z]`, with `\` to escape. */
export function parseGlob(text: string): Glob {
  const tokens: Token[] = [];
  const characters = Array.from(text);
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] ?? "";
    const bracket = character === "[" ? parseClass(characters, at) : undefined;
    if (bracket !== undefined) {
      tokens.push({ kind: "class", test: bracket.test });
      at = bracket.end;
    } else if (character === "\\" && at + 1 < characters.length) tokens.push(characters[++at] ?? "");
    else if (character === "*") {
      if (tokens.at(-1) !== STAR) tokens.push(STAR);
    } else tokens.push(character === "?" ? ONE : character);
  }
  return globOf(tokens);
}

/** `[abc]`, `[a-z]` and `[!a]`; undefined if the bracket is not closed and is therefore literal. */
function parseClass(characters: readonly string[], start: number): { test: CharacterTest; end: number } | undefined {
  const isNegated = characters[start + 1] === "!" || characters[start + 1] === "^";
  const first = start + (isNegated ? 2 : 1);
  // A bracket in first position is a member.
  const end = characters.indexOf("]", first + 1);
  if (end < 0) return undefined;
  const ranges: [low: string, high: string][] = [];
  for (let at = first; at < end; at++) {
    const low = characters[at] ?? "";
    const isRange = characters[at + 1] === "-" && at + 2 < end;
    ranges.push([low, isRange ? (characters[at + 2] ?? low) : low]);
    if (isRange) at += 2;
  }
  const isMember: CharacterTest = (character) => ranges.some(([low, high]) => low <= character && character <= high);
  return { test: isNegated ? (character) => !isMember(character) : isMember, end };
}

export function matchesGlob({ literal, tokens }: Glob, text: string): boolean {
  if (literal !== undefined) return literal === text;
  const characters = Array.from(text);
  let at = 0;
  let next = 0;
  // Only the last star ever needs to match more: whatever an earlier one could match, this one can too.
  let star = -1;
  let takenTo = 0;
  while (at < characters.length) {
    const token = tokens[next];
    if (token === STAR) {
      star = next++;
      takenTo = at;
    } else if (token !== undefined && matchesOne(token, characters[at] ?? "")) {
      at++;
      next++;
    } else if (star >= 0) {
      next = star + 1;
      at = ++takenTo;
    } else return false;
  }
  while (tokens[next] === STAR) next++;
  return next === tokens.length;
}

function matchesOne(token: Token, character: string): boolean {
  if (typeof token === "string") return token === character;
  return token.kind === "one" || (token.kind === "class" && token.test(character));
}

/** All expansions of `{a,b}`; `undefined` if there are more than `limit`. */
export function expandBraces(text: string, limit: number): readonly string[] | undefined {
  const brace = findBrace(text);
  if (brace === undefined) return [text];
  const { start, end, parts } = brace;
  const all: string[] = [];
  for (const part of parts) {
    const expanded = expandBraces(text.slice(0, start) + part + text.slice(end + 1), limit);
    if (expanded === undefined || all.length + expanded.length > limit) return undefined;
    all.push(...expanded);
  }
  return all;
}

/** The first closed brace that contains a comma. */
function findBrace(text: string): { start: number; end: number; parts: string[] } | undefined {
  for (let start = 0; start < text.length; start++) {
    if (text[start] === "\\") start++;
    else if (text[start] === "{") {
      const found = closeBrace(text, start);
      if (found !== undefined) return { start, ...found };
    }
  }
  return undefined;
}

function closeBrace(text: string, start: number): { end: number; parts: string[] } | undefined {
  const parts: string[] = [];
  let depth = 0;
  let from = start + 1;
  for (let at = start + 1; at < text.length; at++) {
    const character = text[at];
    if (character === "\\") at++;
    else if (character === "{") depth++;
    else if (character === "}" && depth > 0) depth--;
    else if ((character === "," || character === "}") && depth === 0) {
      parts.push(text.slice(from, at));
      from = at + 1;
      if (character === "}") return parts.length > 1 ? { end: at, parts } : undefined;
    }
  }
  return undefined;
}
