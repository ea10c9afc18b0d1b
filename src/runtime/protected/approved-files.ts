import { z } from "zod";
import { isInside } from "../../core/paths/is-inside.ts";
import { protectedIn } from "../../core/permission/protected/in-call.ts";
import { rowOfPath } from "../../core/permission/protected/match.ts";
import { UNNAMED_REPOSITORY } from "../../core/permission/protected/table.ts";
import type { CallSubject } from "../../core/rules/subject.ts";
import { isGitHead } from "./git-layout.ts";

/** Configuration that people allowed this turn's calls to write. */
export const approved = z.object({
  /** Absolute; includes everything below. */
  places: z.array(z.string()),
  /** Rows of the table, for calls that name no path: what they write is known only when they run. */
  patterns: z.array(z.string()),
});
export type Approved = z.infer<typeof approved>;

export const NOTHING_APPROVED: Approved = { places: [], patterns: [] };

/** The approvals of a call that may run. A call that could write configuration needs a person's approval. */
export function approvedBy(subject: CallSubject | undefined): Approved {
  const hit = subject && protectedIn(subject);
  if (subject === undefined || hit === undefined) return NOTHING_APPROVED;
  const { paths, shell } = subject;
  const named = [
    ...paths.filter(({ access }) => access === "write"),
    ...(shell === undefined ? [] : [...shell.writes.flatMap(({ places }) => places), ...shell.mentions]),
  ].flatMap(({ named, real }) => [named, real]);
  const places = named.filter((path) => rowOfPath(path, subject) !== undefined);
  return { places, patterns: places.length > 0 ? [] : [hit.pattern] };
}

export function withApproved(one: Approved, other: Approved): Approved {
  return { places: [...one.places, ...other.places], patterns: [...one.patterns, ...other.patterns] };
}

export function isApproved(path: string, { places, patterns }: Approved, cwd: string): boolean {
  if (places.some((place) => isInside(path, place) || isInside(place, path))) return true;
  const pattern = isGitHead(path) ? UNNAMED_REPOSITORY : rowOfPath(path, { workspace: cwd, home: cwd })?.pattern;
  return patterns.includes(pattern ?? "");
}
