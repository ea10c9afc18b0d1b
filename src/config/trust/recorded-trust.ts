import type { Trusting } from "../load.ts";
import { recordOf, TrustBook } from "./trust-book.ts";
import type { TrustItem } from "./trust-item.ts";

/** What a person has trusted, as recorded in Capstan's home. */
export function recordedTrust(home: string): Trusting {
  const book = new TrustBook(home);
  return { isTrusted: (item) => book.isTrusted(item), before: (item) => book.find(item) };
}

/**
 * The same for a long-running process that was started with trust in these items: in exactly this content, not later
 * changes. As with all trusted content, their restrictions still apply when they change.
 */
export function trustFromStart(home: string, items: readonly TrustItem[], now: Date): Trusting {
  const recorded = recordedTrust(home);
  return {
    isTrusted: (item) => recorded.isTrusted(item) || items.some(({ hash }) => hash === item.hash),
    before(place) {
      const item = items.find(
        ({ kind, root, path }) => kind === place.kind && root === place.root && path === place.path,
      );
      return item === undefined ? recorded.before?.(place) : recordOf(item, "--trust", now);
    },
  };
}

/** For callers that only read, and start nothing with the result. */
export const ASSUMED_TRUST: Trusting = { isTrusted: () => true };
