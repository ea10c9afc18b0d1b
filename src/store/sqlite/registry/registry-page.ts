import { CapstanError } from "../../../core/errors.ts";
import type { PageQuery } from "../../../core/ports/registry.ts";

/**
 * The end of a list's statement: the conditions of a page, newest first. The record that a page begins after is found
 * in the same project only, and also when it was archived or deleted since.
 */
export function pageOf(table: string): string {
  const place = `${table}.created_at, ${table}.id`;
  return `${table}.project = :project AND ${table}.created_at BETWEEN :from AND :until
    AND (:after IS NULL OR (${place}) < (SELECT created_at, id FROM ${table} WHERE id = :after AND project = :project))
    ORDER BY ${table}.created_at DESC, ${table}.id DESC LIMIT :limit`;
}

export const NOT_ARCHIVED = "(:includeArchived OR archived_at IS NULL)";

/** The parameters of `pageOf`. */
export function pageParameters(
  project: string,
  { limit, after, createdFrom = 0, createdUntil = Number.MAX_SAFE_INTEGER }: PageQuery,
): { project: string; limit: number; after: string | null; from: number; until: number } {
  return { project, limit, after: after ?? null, from: createdFrom, until: createdUntil };
}

/** A flag as SQLite takes it. */
export function flag(value: boolean | undefined): number {
  return value === true ? 1 : 0;
}

export function taken(what: string, id: string): CapstanError {
  return new CapstanError("store_conflict", `There is ${what} ${id} already. Give the new one another id.`, {
    data: { id },
  });
}
