import { createPublicKey, hash, type KeyObject, verify } from "node:crypto";
import type { Seal, PublicKey } from "../../../core/session/audit.ts";

/**
 * The formulas of the register (docs/audit.md). A seal's text joins its fields with line breaks; its hash is the
 * SHA-256 of that text in hex, its signature is Ed25519 over the same bytes.
 */

export function sealText(seal: Omit<Seal, "hash" | "signature">): string {
  const { seq, at, kind, session_id: session, head_seq: headSeq, head_hash: headHash, note, previous } = seal;
  return ["capstan seal", seq, at, kind, session, headSeq, headHash, note, previous, seal.key_id].join("\n");
}

export function sealHash(text: string): string {
  return hash("sha256", text);
}

export function keyIdOf(publicKey: string): string {
  return hash("sha256", Buffer.from(publicKey, "base64")).slice(0, 16);
}

/** Checks signatures of one key; undefined if the input is not a valid key. */
export function signatureCheck({ publicKey }: PublicKey): ((text: string, signature: string) => boolean) | undefined {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: Buffer.from(publicKey, "base64"), format: "der", type: "spki" });
  } catch {
    return undefined;
  }
  if (key.asymmetricKeyType !== "ed25519") return undefined;
  return (text, signature) => verify(null, Buffer.from(text), key, Buffer.from(signature, "base64"));
}
