import type { WireApproval } from "../../../src/client/index.ts";

/**
 * The inbox shows pending approvals and those answered since the page was opened. Answered ones stay in place until dismissed:
 * a card that vanished would move the next card's buttons under a finger.
 */
export function shownIn(
  shown: readonly WireApproval[],
  pending: readonly WireApproval[],
  dismissed: ReadonlySet<string>,
): readonly WireApproval[] {
  const known = new Set(shown.map(({ id }) => id));
  const byId = new Map(pending.map((approval) => [approval.id, approval]));
  const next = [...shown.map((one) => byId.get(one.id) ?? one), ...pending.filter(({ id }) => !known.has(id))];
  const kept = next.filter(({ id }) => byId.has(id) || !dismissed.has(id));
  const isSame = kept.length === shown.length && kept.every((one, index) => one === shown[index]);
  return isSame ? shown : kept;
}

/** The neighbor of the current one; the first if there is no current one. */
export function besides(ids: readonly string[], current: string | undefined, step: 1 | -1): string | undefined {
  const at = current === undefined ? -1 : ids.indexOf(current);
  if (at < 0) return ids[0];
  return ids[Math.min(ids.length - 1, Math.max(0, at + step))];
}

/** Approvals that arrived since the last call. The first call returns none: whoever opens the page sees what is pending. */
export function newSince(
  known: ReadonlySet<string> | undefined,
  pending: readonly WireApproval[],
): readonly WireApproval[] {
  return known === undefined ? [] : pending.filter(({ id }) => !known.has(id));
}

/** Most recently answered first. */
export function byAnswer(approvals: readonly WireApproval[]): readonly WireApproval[] {
  return approvals.toSorted((one, other) => overAt(other) - overAt(one));
}

function overAt({ answer, created_at }: WireApproval): number {
  return Date.parse(answer?.at ?? created_at);
}

/** Which card to show after the previous one is gone: the next pending one, else the first pending one, else any. */
export function follower(
  before: readonly string[],
  gone: string | undefined,
  now: readonly string[],
  isWaiting: (id: string) => boolean,
): string | undefined {
  const later = before.slice(gone === undefined ? 0 : before.indexOf(gone) + 1);
  return now.find((id) => later.includes(id) && isWaiting(id)) ?? now.find(isWaiting) ?? now[0];
}

/** The neighbor of the current one; the first follows the last. */
export function around(ids: readonly string[], current: string, step: 1 | -1): string | undefined {
  return ids.at((ids.indexOf(current) + step) % ids.length);
}
