import { z } from "zod";
import { priceOf } from "../../core/money/pricing.ts";
import { time } from "./fields.ts";
import { limitUpTo, repeatedParam } from "./queries.ts";
import { invalid } from "./refusal.ts";

/** Models in responses of the API: those with a price known to Capstan. Other properties are unknown. */

/** Newest first. */
export const MODELS = [
  "claude-fable-5-2",
  "claude-opus-5-5",
  "claude-sonnet-5-5",
  "claude-haiku-5-5",
  "claude-fable-5-1",
  "claude-fable-5",
  "claude-opus-5",
  "claude-sonnet-5",
  "claude-opus-4-8",
  "claude-opus-4-7",
  "claude-opus-4-6",
  "claude-sonnet-4-6",
  "claude-opus-4-5",
  "claude-sonnet-4-5",
  "claude-haiku-4-5",
] as const;

const LINES = ["haiku", "sonnet", "opus", "fable", "mythos"] as const;
const MAX_MODELS = 1_000;

export const modelList = z.strictObject({
  limit: limitUpTo(MAX_MODELS),
  after_id: z.string().optional(),
  before_id: z.string().optional(),
  lifecycle: repeatedParam(z.enum(["active", "deprecated", "retired"]), 3),
});

/** Also returns models that are not in the list, such as a dated one. Undefined if the price is unknown. */
export function modelToWireV1(id: string) {
  if (!/^claude-[a-z0-9-]{1,100}$/.test(id) || priceOf(id) === undefined) return undefined;
  return {
    type: "model" as const,
    id,
    display_name: displayName(id),
    // The release date is unknown here.
    created_at: time(0),
    lifecycle: "active" as const,
    line: LINES.find((line) => id.includes(line)) ?? null,
    allowed_fallback_models: null,
    capabilities: null,
    deprecated_at: null,
    max_input_tokens: null,
    max_tokens: null,
    retires_at: null,
  };
}

/** `claude-opus-4-8` → `Claude Opus 4.8`. */
function displayName(id: string): string {
  const words = id.replaceAll(/(\d)-(?=\d(?!\d))/g, "$1.").split("-");
  return words.map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`).join(" ");
}

export function modelPage({ limit, after_id: after, before_id: before, lifecycle }: z.infer<typeof modelList>) {
  if (after !== undefined && before !== undefined)
    throw invalid("after_id and before_id: a page is after one model or before one. Omit one of them.");
  const all =
    lifecycle === undefined || lifecycle.includes("active") ? MODELS.flatMap((id) => modelToWireV1(id) ?? []) : [];
  const placeOf = (id: string): number => {
    const place = all.findIndex((model) => model.id === id);
    if (place < 0) throw invalid(`Model ${JSON.stringify(id)} is not in this list. Use the id of a model on a page.`);
    return place;
  };
  const end = before === undefined ? all.length : placeOf(before);
  const start = after === undefined ? 0 : placeOf(after) + 1;
  const data = before === undefined ? all.slice(start, start + limit) : all.slice(Math.max(0, end - limit), end);
  return {
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: before === undefined ? start + limit < all.length : end - limit > 0,
  };
}
