import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";

/** Creates a signing key in the format of the Standard Webhooks specification. */
export function newSigningSecret(): string {
  return PREFIX + randomBytes(32).toString("base64");
}

/** Headers that let the receiver verify the sender and time of the body. `at`: milliseconds since the epoch. */
export function signedHeaders(
  secret: string,
  { id, at, body }: { readonly id: string; readonly at: number; readonly body: string },
): Record<string, string> {
  const timestamp = String(Math.floor(at / 1_000));
  const key = Buffer.from(secret.slice(PREFIX.length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
}
