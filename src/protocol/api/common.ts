import { z } from "zod";

/** Schemas shared by many answers of `/api`. Names use snake case, times are ISO 8601 in UTC, lists are in `data`. */

export const timestamp = z.iso.datetime().describe("A time, in ISO 8601 and UTC.");

/** Small values that a program keeps with a record. */
export const metadata = z.record(z.string().max(64), z.string().max(512));

/** The format of every error; the same envelope as in `/v1`. */
export const errorEnvelope = z.object({
  type: z.literal("error"),
  error: z.object({
    type: z.string().describe("Such as invalid_request_error or not_found_error; corresponds to the status."),
    message: z.string().describe("What is wrong and what to do next."),
    details: z
      .record(z.string(), z.unknown())
      .optional()
      .describe("error_code` is Capstan's code, as in docs/errors.md."),
  }),
  request_id: z.string().describe("Identifies the request in the server's log."),
});
export type ErrorEnvelope = z.infer<typeof errorEnvelope>;

/** A complete list. */
export function dataList<Item extends z.ZodType>(item: Item): z.ZodObject<{ data: z.ZodArray<Item> }> {
  return z.object({ data: z.array(item) });
}

export interface List<Item> {
  data: Item[];
}

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

export function isoTimeOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms);
}

export function msOf(time: string): number {
  return Date.parse(time);
}

export function msOrNull(time: string | null): number | null {
  return time === null ? null : msOf(time);
}

/** Query values are text. */
export const queryFlag = z.enum(["true", "false"]).transform((text) => text === "true");

export function queryNumber({ min, max }: { readonly min: number; readonly max: number }) {
  // Coerced from text, so never null, unlike what the document would say.
  return z.coerce.number().int().min(min).max(max).meta({ type: "integer" });
}
