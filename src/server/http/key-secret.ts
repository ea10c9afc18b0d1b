import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock, Ids } from "../../core/ports/clock.ts";
import type { KeyRecord, Role } from "../../core/ports/registry.ts";

const SHAPE = /^ck_[A-Za-z0-9_-]{43}$/;
/** In characters: enough to tell keys apart, and far too few to guess one. */
const SHOWN = 9;

/** Creates a key. Show the secret, 256 random bits, only once; the record has its hash. */
export function mintKey(
  { project, name, role }: { readonly project: string; readonly name: string; readonly role: Role },
  { clock, ids }: { readonly clock: Clock; readonly ids: Ids },
): { readonly record: KeyRecord; readonly secret: string } {
  const secret = `ck_${randomBytes(32).toString("base64url")}`;
  const record: KeyRecord = {
    id: ids.next("key"),
    project,
    name,
    role,
    hash: hashSecret(secret),
    prefix: secret.slice(0, SHOWN),
    createdAt: clock.now(),
    lastUsedAt: null,
    revokedAt: null,
  };
  return { record, secret };
}

export function looksLikeKey(secret: string): boolean {
  return SHAPE.test(secret);
}

export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

/** Compares in constant time. */
export function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
