import type { ShellSubject } from "../rules/subject.ts";
import { betweenMarkers, marker, markersIn } from "./redaction-marker.ts";
import { HINT, isSecretField, isSecretVariable, SECRET_SHAPES, type SecretShape } from "./redaction-patterns.ts";
import { safePattern } from "./safe-pattern.ts";

/** A value that is known to be secret. */
export interface Secret {
  readonly name: string;
  readonly value: string;
}

/** A user's pattern, in the syntax of safe-pattern.ts. */
export interface RedactionPattern {
  readonly name: string;
  readonly pattern: string;
}

/** Replaces secrets with `[redacted:<name>]`. Deterministic, and redacting twice changes nothing. */
export interface Redactor {
  text(text: string): string;
  /**
   * Redacts every text in an event except ids, names, hashes and images. Returns the same object if nothing was found.
   */
  event<T extends object>(event: T): T;
  /** The same with additional known values. */
  with(secrets: readonly Secret[]): Redactor;
}

export interface RedactorOptions {
  readonly secrets?: readonly Secret[];
  readonly patterns?: readonly RedactionPattern[];
}

/** Shorter values occur in too many other words. */
const SHORTEST_SECRET = 8;

export function createRedactor({ secrets = [], patterns = [] }: RedactorOptions = {}): Redactor {
  const known = secrets.flatMap(spellings).toSorted((a, b) => b.value.length - a.value.length);
  const own = patterns.map(({ name, pattern }): SecretShape => ({ name, secret: safePattern(pattern) }));
  const text = (given: string): string => redactText(given, { known, own });
  return {
    text,
    event(event) {
      const split = secretsOfCommands(event, own);
      return redactObject(event, { text: split.length === 0 ? text : withSplit(split, { known, own }), isFree: false });
    },
    with: (more) => createRedactor({ secrets: [...secrets, ...more], patterns }),
  };
}

/** The values of variables whose names indicate a secret. */
export function secretVariables(variables: Readonly<Record<string, string | undefined>>): readonly Secret[] {
  return Object.entries(variables).flatMap(([name, value]) =>
    value !== undefined && isSecretVariable(name) ? [{ name, value }] : [],
  );
}

/** The value as is, and as escaped in JSON or a URL. */
function spellings({ name, value }: Secret): Secret[] {
  const plain = value.trim();
  if (plain.length < SHORTEST_SECRET) return [];
  const spelled = new Set([plain, JSON.stringify(plain).slice(1, -1), encodeURIComponent(plain.toWellFormed())]);
  // A marker that could be mistaken for the end of another one would not be found again.
  const label = name.replaceAll(/[^\w.-]/g, "_").slice(0, 64) || "secret";
  return [...spelled].map((spelling) => ({ name: label, value: spelling }));
}

interface Known {
  readonly known: readonly Secret[];
  /** The user's patterns. */
  readonly own: readonly SecretShape[];
}

/**
 * A decision is saved with a command's words and the paths in them. That `hunter2` is a password is visible only in
 * `--password hunter2`, not in either word, so the whole command is searched.
 */
function secretsOfCommands(event: object, own: readonly SecretShape[]): readonly Secret[] {
  const { subject } = event as { readonly subject?: { readonly shell?: Pick<ShellSubject, "commands"> } };
  return (subject?.shell?.commands ?? []).flatMap(({ words }) =>
    betweenMarkers(words.map((word) => word.text).join(" ")).flatMap((piece) => secretsIn(piece, own)),
  );
}

function secretsIn(piece: string, own: readonly SecretShape[]): Secret[] {
  return (HINT.test(piece) ? [...own, ...SECRET_SHAPES] : own).flatMap(({ name, secret }) =>
    Array.from(piece.matchAll(secret), ({ 0: match, groups }) => {
      const { keep, end } = groupsOf(groups);
      return { name, value: match.slice(keep.length, match.length - end.length) };
    }),
  );
}

/** A short secret must be a whole word: it occurs in too many others. */
function withSplit(split: readonly Secret[], { known, own }: Known): (text: string) => string {
  const names = new Map(split.map(({ name, value }) => [value, name]));
  const all = [...split.flatMap(spellings), ...known].toSorted((a, b) => b.value.length - a.value.length);
  return (text) => {
    const name = names.get(text);
    return name === undefined ? redactText(text, { known: all, own }) : marker(name);
  };
}

/** Repeats until nothing is found: the text next to a new marker may only now look like a secret. */
function redactText(text: string, what: Known): string {
  let result = text;
  for (;;) {
    const next = redactOnce(result, what);
    if (next === result) return result;
    result = next;
  }
}

/** Never searches inside markers. */
function redactOnce(text: string, what: Known): string {
  const markers = markersIn(text);
  if (markers.length === 0) return redactPiece(text, what);
  return betweenMarkers(text)
    .map((piece, index) => redactPiece(piece, what) + (markers[index] ?? ""))
    .join("");
}

/** One kind of secret at a time; the next kind sees the remaining pieces. */
function redactPiece(piece: string, { known, own }: Known): string {
  if (piece === "") return piece;
  for (const { name, value } of known) if (piece.includes(value)) return piece.replaceAll(value, marker(name));
  for (const { name, secret } of HINT.test(piece) ? [...own, ...SECRET_SHAPES] : own) {
    const redacted = piece.replaceAll(secret, (...match: unknown[]) => {
      const { keep, end } = groupsOf(match.at(-1));
      return keep + marker(name) + end;
    });
    if (redacted !== piece) return redacted;
  }
  return piece;
}

function groupsOf(groups: unknown): { readonly keep: string; readonly end: string } {
  const { keep = "", end = "" } = (typeof groups === "object" ? groups : {}) as { keep?: string; end?: string };
  return { keep, end };
}

/** Fields without free text: changing one would break the event, and they can't contain a secret. */
const STRUCTURE =
  /^(?:type|id|.+_ids?|.+_at|.+_sha256|hash|signature|name|.+_name|tool|tools|model|kind|mode|media_type|outcome|decision|which|scope|trigger|history|result|currency|amount|code|request_class|stop_reason|engine|engine_version|day|billing)$/;
export function isStructure(field: string): boolean {
  return STRUCTURE.test(field);
}

/** Fields whose content a tool or a schema defines: everything in them is free text, including keys. */
const FREE = new Set(["input", "output"]);

interface Walk {
  readonly text: (text: string) => string;
  /** Inside a tool's input or the like. */
  readonly isFree: boolean;
}

function redactValue(value: unknown, walk: Walk): unknown {
  if (typeof value === "string") return walk.text(value);
  return typeof value === "object" && value !== null ? redactObject(value, walk) : value;
}

function redactObject<T extends object>(object: T, walk: Walk): T {
  if (Array.isArray(object)) {
    const items = object.map((item: unknown) => redactValue(item, walk));
    return items.every((item, index) => item === object[index]) ? object : (items as unknown as T);
  }
  const isImage = "type" in object && object.type === "base64";
  let isChanged = false;
  const entries = Object.entries(object).map(([key, value]: [string, unknown]): [string, unknown] => {
    const redacted = isImage ? value : redactField(key, value, walk);
    const name = walk.isFree ? walk.text(key) : key;
    isChanged ||= redacted !== value || name !== key;
    return [name, redacted];
  });
  if (!isChanged) return object;
  const fields = new Map<string, unknown>();
  for (const [key, value] of entries) fields.set(freeName(key, fields), value);
  return Object.fromEntries(fields) as T;
}

function redactField(key: string, value: unknown, walk: Walk): unknown {
  if (walk.isFree) {
    if (typeof value === "string" && value.length >= 4 && isSecretField(key)) return wholeValue(key, walk.text(value));
    return redactValue(value, walk);
  }
  if (typeof value === "string" && isStructure(key)) return value;
  // Lists of ids and names; objects under such a key still have their own fields.
  if (Array.isArray(value) && isStructure(key) && value.every((item) => typeof item === "string")) return value;
  return redactValue(value, { ...walk, isFree: FREE.has(key) });
}

function wholeValue(key: string, value: string): string {
  const markers = markersIn(value);
  return markers.length === 1 && markers[0] === value ? value : marker(key.replaceAll(/[^\w.-]/g, "_").slice(0, 64));
}

/** Two keys may become the same marker. */
function freeName(key: string, taken: ReadonlyMap<string, unknown>): string {
  let name = key;
  for (let number = 2; taken.has(name); number += 1) name = `${key}#${number}`;
  return name;
}
