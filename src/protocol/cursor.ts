import { z } from "zod";
import { invalid } from "./v1/refusal.ts";

/**
 * Where a page begins. Opaque to clients, which pass it back to the same list. `list` prevents using a cursor with
 * another list.
 */
const cursor = z.strictObject({ list: z.string(), at: z.string(), back: z.literal(true).optional() });

export interface PageCursor {
  readonly at: string;
  /** The page before `at` instead of the one after it. */
  readonly back?: true | undefined;
}

const PREFIX = "page_";

export function writeCursor(list: string, { at, back }: PageCursor): string {
  const text = JSON.stringify({ list, at, ...(back === true && { back }) });
  return `${PREFIX}${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** Undefined for the first page. */
export function readCursor(list: string, page: string | undefined): PageCursor | undefined {
  if (page === undefined) return undefined;
  const read = cursor.safeParse(decodeCursor(page));
  if (read.success && read.data.list === list) return read.data;
  throw invalid("page: this is not a cursor of this list. Use `next_page` of an earlier page unchanged, or omit it.");
}

function decodeCursor(page: string): unknown {
  try {
    return JSON.parse(atob(page.slice(PREFIX.length).replaceAll("-", "+").replaceAll("_", "/")));
  } catch {
    return undefined;
  }
}
