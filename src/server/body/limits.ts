import type { ServerSettings } from "../http/context.ts";

const KIBIBYTE = 1_024;
const MEBIBYTE = 1_024 * KIBIBYTE;

/** How much a server reads of what clients send. Sizes are in bytes, times in milliseconds. */
export interface BodyLimits {
  /** The body of a request to a path that takes messages and attachments. */
  readonly large: number;
  /** The body of any other request. */
  readonly small: number;
  /** The body of a request without a key: a login form. */
  readonly stranger: number;
  /** An uploaded file with the form around it. */
  readonly upload: number;
  /** Bodies held in memory at once for one key, and for all keys together. */
  readonly perKey: number;
  readonly overall: number;
  /** Until a body that is read into memory has arrived. */
  readonly wholeMs: number;
  /** Between two pieces of an upload. */
  readonly pieceMs: number;
}

/** What a form adds to the file in it. */
const FORM_OVERHEAD = MEBIBYTE;

export function bodyLimits(settings: Pick<ServerSettings, "maxBodyBytes" | "maxUploadBytes">): BodyLimits {
  const { maxBodyBytes: large, maxUploadBytes } = settings;
  return {
    large,
    small: Math.min(MEBIBYTE, large),
    stranger: 16 * KIBIBYTE,
    upload: maxUploadBytes + FORM_OVERHEAD,
    perKey: Math.max(2 * large, 4 * MEBIBYTE),
    overall: Math.max(4 * large, 16 * MEBIBYTE),
    wholeMs: 60_000,
    pieceMs: 30_000,
  };
}

/** The requests that carry messages, images or the results of tools. Every other body is small. */
const LARGE_PATHS: readonly RegExp[] = [
  /^\/api\/sessions\/?$/,
  /^\/api\/sessions\/[^/]+\/messages\/?$/,
  /^\/api\/approvals\/[^/]+\/answer\/?$/,
  /^\/v1\/sessions\/?$/,
  /^\/v1\/sessions\/[^/]+\/events\/?$/,
];

/** Values that the JSON of a request may have. Every wrong one costs the time that a schema takes to say so. */
const LARGE_VALUES = 20_000;
const SMALL_VALUES = 5_000;

/** How much JSON the request to a path may have. */
export function jsonLimits(
  path: string,
  { large, small }: BodyLimits,
): { readonly bytes: number; readonly values: number } {
  const isLarge = LARGE_PATHS.some((pattern) => pattern.test(path));
  return isLarge ? { bytes: large, values: LARGE_VALUES } : { bytes: small, values: SMALL_VALUES };
}
