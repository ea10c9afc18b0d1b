import { createHash, createPublicKey, verify } from "node:crypto";

/**
 * What an outsider does with an exported audit: only docs/audit.md, the file and node:crypto. Nothing of Capstan is
 * imported here. Gives what is wrong, in words.
 */
export function verifyAlone(text: string): string[] {
  const problems: string[] = [];
  const records = text
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, string | number | boolean>);

  const header = records[0] as unknown as {
    complete: boolean;
    keys: { public_key: string }[];
    anchor: { seq: number; hash: string };
  };
  const der = Buffer.from(header.keys[0]?.public_key ?? "", "base64");
  const key = createPublicKey({ key: der, format: "der", type: "spki" });
  const keyId = sha256(der).slice(0, 16);

  // The register: each seal follows from the one before it and bears a signature.
  const FIELDS = ["seq", "at", "kind", "session_id", "head_seq", "head_hash", "note", "previous", "key_id"];
  const seals = records.filter(({ record }) => record === "seal");
  let previous = "";
  for (const [index, seal] of seals.entries()) {
    const signed = ["capstan seal", ...FIELDS.map((field) => seal[field])].join("\n");
    if (sha256(signed) !== seal["hash"]) problems.push(`seal ${index + 1}: hash`);
    const signature = Buffer.from(String(seal["signature"]), "base64");
    if (seal["key_id"] !== keyId || !verify(null, Buffer.from(signed), key, signature))
      problems.push(`seal ${index + 1}: signature`);
    if (header.complete && (seal["seq"] !== index + 1 || seal["previous"] !== previous))
      problems.push(`seal ${index + 1}: order`);
    previous = String(seal["hash"]);
  }
  if (header.complete && seals[header.anchor.seq - 1]?.["hash"] !== header.anchor.hash) problems.push("anchor");

  // The logs: each event's hash covers the one before it, and every signed head is in its log.
  const hashes = new Map<string, string[]>();
  for (const record of records) {
    const id = String(record["session_id"]);
    if (record["record"] === "session") hashes.set(id, [sha256(`capstan session\n${id}`)]);
    if (record["record"] !== "event") continue;
    const chain = hashes.get(id) ?? [];
    const expected = sha256(`${chain.at(-1)}\n${id}\n${record["seq"]}\n${record["event"]}`);
    const isErased = record["event"] === "";
    if (record["seq"] !== chain.length || (!isErased && expected !== record["hash"]))
      problems.push(`${id}, event ${record["seq"]}: hash`);
    chain.push(String(record["hash"]));
  }
  for (const { session_id: id, head_seq: seq, head_hash: hash } of seals)
    if (id !== "" && hashes.get(String(id))?.[Number(seq)] !== hash) problems.push(`${id}: signed head ${seq}`);
  for (const { record, session_id: id, head_seq: seq, head_hash: hash } of records)
    if (
      record === "session" &&
      (hashes.get(String(id))?.length !== Number(seq) + 1 || hashes.get(String(id))?.at(-1) !== hash)
    )
      problems.push(`${id}: end`);
  return problems;
}

function sha256(given: string | Buffer): string {
  return createHash("sha256").update(given).digest("hex");
}
