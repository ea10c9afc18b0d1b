import { z } from "zod";

/** Fields shared by many requests and responses of the Managed Agents API. */

/** Sent by clients. `metadataProblems` checks its limits and reports its own errors. */
export const metadataParams = z.record(z.string(), z.string());
/** A value of null removes the key. */
export const metadataPatch = z.record(z.string(), z.string().nullable());

const MAX_KEYS = 16;
const MAX_KEY = 64;
const MAX_VALUE = 512;
/** Prefix of Capstan's own keys. */
const RESERVED = "capstan.";

/** Problems of metadata about to be saved, one sentence each. */
export function metadataProblems(wanted: Readonly<Record<string, string>>): readonly string[] {
  const entries = Object.entries(publicMetadata(wanted));
  return [
    ...(entries.length > MAX_KEYS ? [`There are ${entries.length} keys; the limit is ${MAX_KEYS}.`] : []),
    ...entries.flatMap(([key, value]) => [
      ...(key === "" || key.length > MAX_KEY ? [`The key ${quoteKey(key)} must have 1 to ${MAX_KEY} characters.`] : []),
      ...(value.length > MAX_VALUE ? [`The value of ${quoteKey(key)} has more than ${MAX_VALUE} characters.`] : []),
    ]),
  ];
}

/** Problems of the keys that a client wrote. */
export function reservedKeys(written: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.keys(written)
    .filter((key) => key.startsWith(RESERVED))
    .map((key) => `The key ${quoteKey(key)} is reserved: keys that begin with ${RESERVED} belong to Capstan.`);
}

/** Without Capstan's own keys. */
export function publicMetadata(stored: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(stored).filter(([key]) => !key.startsWith(RESERVED)));
}

/** `removes`: which values remove their key. */
export function patchMetadata(
  stored: Readonly<Record<string, string>>,
  patch: Readonly<Record<string, string | null>>,
  removes: (value: string | null) => boolean = (value) => value === null,
): Record<string, string> {
  const kept = Object.entries({ ...stored, ...patch }).filter(
    (entry): entry is [string, string] => entry[1] !== null && !(Object.hasOwn(patch, entry[0]) && removes(entry[1])),
  );
  return Object.fromEntries(kept);
}

function quoteKey(text: string): string {
  return JSON.stringify(text.length > MAX_KEY ? `${text.slice(0, MAX_KEY)}…` : text);
}

/** RFC 3339. */
export function time(ms: number): string {
  return new Date(ms).toISOString();
}

export function timeOrNull(ms: number | null): string | null {
  return ms === null ? null : time(ms);
}

/** Formats money like the API: whole cents as a decimal string. */
export function cents(usd: number): { amount: string; currency: "USD" } {
  return { amount: String(Math.round(usd * 100)), currency: "USD" };
}
