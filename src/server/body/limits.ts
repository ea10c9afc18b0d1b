import type { ServerSettings } from "../http/context.ts";

const KIBIBYTE = 1_024;
const MEBIBYTE = 1_024 * KIBIBYTE;

/** Limits on what a server reads from clients. Sizes are in bytes, times in milliseconds. */
export interface BodyLimits {
  /** The body of a request that carries messages and attachments. */
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
  /** The time for a body that is read into memory. */
  readonly wholeMs: number;
  /** The time between two chunks of an upload. */
  readonly pieceMs: number;
}

/** The size of a form around its file. */
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

/** Requests that carry messages, images or tool results. All other bodies are small. */
const LARGE_PATHS: readonly RegExp[] = [
  /^\/api\/sessions\/?$/,
  /^\/api\/sessions\/[^/]+\/messages\/?$/,
  /^\/api\/approvals\/[^/]+\/answer\/?$/,
  /^\/v1\/sessions\/?$/,
  /^\/v1\/sessions\/[^/]+\/events\/?$/,
];

/** The maximum number of JSON values in a request. Every wrong value costs validation time. */
const LARGE_VALUES = 20_000;
const SMALL_VALUES = 5_000;

/** The JSON limits for a path. */
export function jsonLimits(
  path: string,
  { large, small }: BodyLimits,
): { readonly bytes: number; readonly values: number } {
  const isLarge = LARGE_PATHS.some((pattern) => pattern.test(path));
  return isLarge ? { bytes: large, values: LARGE_VALUES } : { bytes: small, values: SMALL_VALUES };
}
