import { hash } from "node:crypto";

/**
 * Each event's hash covers the previous hash, so no event can be altered, removed, inserted or moved without breaking
 * every later hash. All hashes are SHA-256 in hex. Anyone can check a log with these two formulas.
 */

export interface Link {
  readonly previous: string;
  readonly sessionId: string;
  readonly seq: number;
  /** The event's JSON exactly as saved. */
  readonly text: string;
}

/** Precedes the first event; different for every session, so that a whole log can't be passed off as another's. */
export function genesisHash(sessionId: string): string {
  return hash("sha256", `capstan session\n${sessionId}`);
}

export function eventHash({ previous, sessionId, seq, text }: Link): string {
  return hash("sha256", `${previous}\n${sessionId}\n${seq}\n${text}`);
}
