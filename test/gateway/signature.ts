import { createHash, createHmac } from "node:crypto";

export interface SignedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

export interface Signature {
  /** `key id/day/region/service/aws4_request`. */
  readonly credential: string;
  readonly isValid: boolean;
}

/** What AWS would make of a request: worked out again from what arrived, with the secret that both sides know. */
export function signatureOf({ method, path, headers, body }: SignedRequest, secret: string): Signature | undefined {
  const [, credential = "", names = "", given] =
    /^AWS4-HMAC-SHA256 Credential=(\S+), SignedHeaders=(\S+), Signature=(\w+)$/.exec(headers["authorization"] ?? "") ??
    [];
  if (given === undefined) return undefined;
  const [, ...scope] = credential.split("/");
  const canonical = [
    method,
    // Each part is encoded once more than it was sent.
    path.split("/").map(encodeURIComponent).join("/"),
    "",
    ...names.split(";").map((name) => `${name}:${(headers[name] ?? "").trim().replaceAll(/ +/g, " ")}`),
    "",
    names,
    sha256(body),
  ].join("\n");
  const text = ["AWS4-HMAC-SHA256", headers["x-amz-date"], scope.join("/"), sha256(canonical)].join("\n");
  const key = scope.reduce<Buffer>((last, part) => hmac(last, part), Buffer.from(`AWS4${secret}`));
  return { credential, isValid: hmac(key, text).toString("hex") === given };
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac("sha256", key).update(text).digest();
}
