import type { Trusting } from "../load.ts";
import { TrustBook } from "./book.ts";

/** What a person has trusted, as recorded in Capstan's home. */
export function recordedTrust(home: string): Trusting {
  const book = new TrustBook(home);
  return { isTrusted: (item) => book.isTrusted(item), before: (item) => book.find(item) };
}

/** For those who only look, and start nothing with what they found. */
export const ASSUMED_TRUST: Trusting = { isTrusted: () => true };
