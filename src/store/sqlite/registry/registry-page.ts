import { CapstanError } from "../../../core/errors.ts";
import type { PageQuery } from "../../../core/ports/registry.ts";

/**
 * The end of a list's statement: the conditions of a page, newest first. The record that a page starts after is
 * searched only in the same project, and found even if it was archived or deleted since.
 */
export function pageClause(table: string): string {
  const place = `${table}.created_at, ${table}.id`;
  return `${table}.project = :project AND ${table}.created_at BETWEEN :from AND :until
    AND (:after IS NULL OR (${place}) < (SELECT created_at, id FROM ${table} WHERE id = :after AND project = :project))
    ORDER BY ${table}.created_at DESC, ${table}.id DESC LIMIT :limit`;
}

export const NOT_ARCHIVED = "(:includeArchived OR archived_at IS NULL)";

/** The parameters of `pageClause`. */
export function pageParameters(
  project: string,
  { limit, after, createdFrom = 0, createdUntil = Number.MAX_SAFE_INTEGER }: PageQuery,
): { project: string; limit: number; after: string | null; from: number; until: number } {
  return { project, limit, after: after ?? null, from: createdFrom, until: createdUntil };
}

/** A flag in SQLite's form. */
export function toSqlFlag(value: boolean | undefined): number {
  return value === true ? 1 : 0;
}

export function idTakenError(what: string, id: string): CapstanError {
  return new CapstanError("store_conflict", `There is already ${what} ${id}. Use another id.`, {
    data: { id },
  });
}
