import { z } from "zod";

/** Query parameters, which are always text. */

export const DEFAULT_LIMIT = 20;
export const MAX_LIMIT = 100;

/** The number of items on a page. */
export function limitUpTo(max: number, usual = DEFAULT_LIMIT) {
  const wanted = `expected a number from 1 to ${max}`;
  return z
    .string()
    .regex(/^\d{1,9}$/, wanted)
    .transform(Number)
    .pipe(z.number().min(1, wanted).max(max, wanted))
    .default(usual);
}

/** An empty value means none: some clients write null that way. */
export const page = z
  .string()
  .optional()
  .transform((text) => (text === "" ? undefined : text));

export const flagParam = z
  .enum(["true", "false"], "expected true or false")
  .default("false")
  .transform((text) => text === "true");

export const version = z
  .string()
  .regex(/^[1-9]\d{0,8}$/, "expected a version: a number from 1")
  .transform(Number)
  .optional();

/** RFC 3339, as milliseconds since the epoch. */
const moment = z
  .string()
  .refine((text) => /^\d{4}-\d\d-\d\d([Tt ].*)?$/.test(text) && !Number.isNaN(Date.parse(text)), {
    error: "expected a time such as 2026-11-15T09:00:00Z",
  })
  .transform((text) => Date.parse(text))
  .optional();

export const createdWithin = { "created_at[gte]": moment, "created_at[lte]": moment };
export const createdBetween = { ...createdWithin, "created_at[gt]": moment, "created_at[lt]": moment };

export interface Created {
  readonly "created_at[gt]"?: number | undefined;
  readonly "created_at[gte]"?: number | undefined;
  readonly "created_at[lt]"?: number | undefined;
  readonly "created_at[lte]"?: number | undefined;
}

/** In milliseconds, both ends included. */
export function createdRange(query: Created): { createdFrom?: number; createdUntil?: number } {
  const from = [query["created_at[gte]"], after(query["created_at[gt]"], 1)].filter((ms) => ms !== undefined);
  const until = [query["created_at[lte]"], after(query["created_at[lt]"], -1)].filter((ms) => ms !== undefined);
  return {
    ...(from.length > 0 && { createdFrom: Math.max(...from) }),
    ...(until.length > 0 && { createdUntil: Math.min(...until) }),
  };
}

function after(ms: number | undefined, step: number): number | undefined {
  return ms === undefined ? undefined : ms + step;
}

/** Accepts one or more values: `statuses[]=idle&statuses[]=running`, with or without brackets. */
export function repeatedParam<Item extends z.ZodType<unknown, string>>(item: Item, max = 100) {
  return z.preprocess(
    (value) => (value === undefined || value === "" ? undefined : Array.isArray(value) ? value : [value]),
    z.array(item).max(max).optional(),
  );
}

/** Converts a query for a schema: text, or a list of texts for names that repeat or have brackets. */
export function queryFields(search: URLSearchParams): Record<string, string | string[]> {
  const fields = new Map<string, string | string[]>();
  for (const [key, value] of search) {
    const name = key.replace(/\[\]$/, "");
    const before = fields.get(name);
    if (before !== undefined) fields.set(name, [before, value].flat());
    else fields.set(name, name === key ? value : [value]);
  }
  return Object.fromEntries(fields);
}
