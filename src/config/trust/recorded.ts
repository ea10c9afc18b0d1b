import type { Trusting } from "../load.ts";
import { recordOf, TrustBook } from "./book.ts";
import type { TrustItem } from "./item.ts";

/** What a person has trusted, as recorded in Capstan's home. */
export function recordedTrust(home: string): Trusting {
  const book = new TrustBook(home);
  return { isTrusted: (item) => book.isTrusted(item), before: (item) => book.find(item) };
}

/**
 * The same for a process that runs on, which was told at its start to trust these: that exact content and no later one.
 * What they restrict still applies when they change, as with everything that was trusted.
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

/** For those who only look, and start nothing with what they found. */
export const ASSUMED_TRUST: Trusting = { isTrusted: () => true };
