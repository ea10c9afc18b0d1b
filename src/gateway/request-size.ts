import type { RequestSize } from "../core/money/budget-estimate.ts";

/** About right for English text and JSON; errs towards more tokens. */
const BYTES_PER_TOKEN = 3.5;
/** The maximum for an image, whatever its file size. */
const IMAGE_TOKENS = 5_000;
/**
 * For content that the request does not show: a document that the provider fetches, a conversation that it remembers.
 */
const UNSEEN_TOKENS = 200_000;
/** The provider's default if a request does not say. */
const DEFAULT_SEARCHES = 10;

type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Estimates the size of a request. Walks its body without recursion: it comes from an agent, and may be nested
 * arbitrarily deep.
 */
export function measureRequest(request: JsonObject, bytes: number): RequestSize {
  let shown = bytes;
  let tokens = request["thread"] === undefined ? 0 : UNSEEN_TOKENS;
  let cached = "no" as RequestSize["cached"];
  let webSearches = 0;
  const left: unknown[] = [request];
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value !== "object" || value === null) continue;
    for (const inner of Object.values(value)) if (typeof inner === "object") left.push(inner);
    if (Array.isArray(value)) continue;
    const { type, source, cache_control: control, max_uses: uses } = value as JsonObject;
    if (type === "image") {
      tokens += IMAGE_TOKENS;
      shown -= encodedBytes(source);
    } else if (type === "document" && isElsewhere(source)) tokens += UNSEEN_TOKENS;
    else if (typeof type === "string" && /^web_search_\d+$/.test(type))
      webSearches += typeof uses === "number" ? uses : DEFAULT_SEARCHES;
    if (typeof control === "object" && control !== null)
      cached = (control as JsonObject)["ttl"] === "1h" || cached === "1h" ? "1h" : "5m";
  }
  const most = request["max_tokens"];
  return {
    inputTokens: tokens + Math.ceil(Math.max(0, shown) / BYTES_PER_TOKEN),
    maxTokens: typeof most === "number" && most > 0 ? most : undefined,
    isStream: request["stream"] === true,
    cached,
    webSearches,
  };
}

function encodedBytes(source: unknown): number {
  const { type, data } = (source ?? {}) as JsonObject;
  return type === "base64" && typeof data === "string" ? data.length : 0;
}

function isElsewhere(source: unknown): boolean {
  const { type } = (source ?? {}) as JsonObject;
  return type === "url" || type === "file";
}
