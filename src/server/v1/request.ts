import type { Context } from "hono";
import { z } from "zod";
import { readCursor, writeCursor } from "../../protocol/cursor.ts";
import { metadataProblems, reservedKeys } from "../../protocol/v1/fields.ts";
import { queryFields } from "../../protocol/v1/queries.ts";
import { parseRequest } from "../../protocol/v1/refusal.ts";
import type { Env } from "../http/context.ts";
import { ApiFailure } from "../http/failure.ts";

/** Older clients send a beta flag with every request. */
export function readQuery<Schema extends z.ZodType>(c: Context<Env>, schema: Schema): z.output<Schema> {
  const { beta: _, ...fields } = queryFields(new URL(c.req.url).searchParams);
  return parseRequest("the query", schema, fields);
}

const nothing = z.strictObject({});

export function requireNoQuery(c: Context<Env>): void {
  readQuery(c, nothing);
}

export function param(c: Context<Env>, name: string): string {
  return c.req.param(name) ?? "";
}

/** `written`: sent by the client; `stored`: the complete result. */
export function requireMetadata(
  written: Readonly<Record<string, unknown>>,
  stored: Readonly<Record<string, string>>,
): void {
  const problems = [...reservedKeys(written), ...metadataProblems(stored)];
  if (problems.length > 0)
    throw new ApiFailure("invalid_request_error", `metadata: ${problems.join(" ")}`, {
      details: { error_code: "invalid_metadata" },
    });
}

/** Returns one page of a list. */
export async function readListPage<Item>(
  list: string,
  { limit, page }: { readonly limit: number; readonly page: string | undefined },
  { read, at }: PageSource<Item>,
): Promise<{ readonly items: readonly Item[]; readonly next_page: string | null }> {
  const after = readCursor(list, page)?.at;
  // Reading one more than requested shows whether there is another page.
  const found = await read({ limit: limit + 1, ...(after !== undefined && { after }) });
  const items = found.slice(0, limit);
  const last = items.at(-1);
  return { items, next_page: found.length > limit && last !== undefined ? writeCursor(list, { at: at(last) }) : null };
}

export interface PageSource<Item> {
  readonly read: (query: { readonly limit: number; readonly after?: string }) => Promise<readonly Item[]>;
  /** Identifies an item's position in the list. */
  readonly at: (item: Item) => string;
}
