import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { z } from "zod";
import type { Environment } from "../../config/project/home.ts";
import type { Anchor, AuditKey, AuditSigner } from "../../core/session/audit.ts";
import { CapstanError, messageOf } from "../../core/errors.ts";
import { keyIdOf } from "../../store/sqlite/audit/seal-hash.ts";

const anchorFile = z.strictObject({ seq: z.int().nonnegative(), hash: z.string() });

/** The path of the key: `$CAPSTAN_AUDIT_KEY_FILE`, otherwise a file in Capstan's home. The anchor is next to it. */
export function auditKeyPath(home: string, environment: Environment): string {
  const chosen = environment["CAPSTAN_AUDIT_KEY_FILE"];
  if (!chosen) return join(home, "audit-key.pem");
  if (!isAbsolute(chosen))
    throw new CapstanError(
      "invalid_input",
      `CAPSTAN_AUDIT_KEY_FILE must be an absolute path (found ${JSON.stringify(chosen)}).`,
    );
  return chosen;
}

/** An Ed25519 key in a private file. Reads nothing until it is needed. */
export function auditKey(path: string): AuditKey {
  const anchorPath = `${path}.head`;
  const load = (): AuditSigner | undefined => (existsSync(path) ? signerOf(readKey(path)) : undefined);
  const create = (): AuditSigner => {
    if (!existsSync(anchorPath)) writePrivately(anchorPath, anchorText({ seq: 0, hash: "" }));
    const { privateKey } = generateKeyPairSync("ed25519");
    writeOnce(path, privateKey.export({ type: "pkcs8", format: "pem" }) as string);
    return load() ?? signerOf(privateKey);
  };
  return {
    path,
    load,
    create,

    replace() {
      if (existsSync(path)) renameSync(path, `${path}.before-${Date.now()}`);
      return create();
    },

    anchor() {
      if (!existsSync(anchorPath)) return undefined;
      try {
        const parsed = anchorFile.safeParse(JSON.parse(readFileSync(anchorPath, "utf8")));
        if (parsed.success) return parsed.data;
        throw new Error("its content is not an anchor");
      } catch (thrown) {
        throw new CapstanError(
          "store_failed",
          `The end of the audit register cannot be read from ${anchorPath} (${messageOf(thrown)}). Restore the file from a ` +
            "backup. If it is lost for good, run: capstan audit accept",
          { data: { path: anchorPath }, cause: thrown },
        );
      }
    },

    moveAnchor(anchor) {
      writePrivately(anchorPath, anchorText(anchor));
    },
  };
}

function anchorText({ seq, hash }: Anchor): string {
  return `${JSON.stringify({ seq, hash })}\n`;
}

function readKey(path: string): KeyObject {
  try {
    const key = createPrivateKey(readFileSync(path, "utf8"));
    if (key.asymmetricKeyType === "ed25519") return key;
    throw new Error("it is not an Ed25519 key");
  } catch (thrown) {
    throw new CapstanError(
      "store_failed",
      `The audit key ${path} cannot be used: ${messageOf(thrown)}. Restore it from a backup, or set ` +
        "CAPSTAN_AUDIT_KEY_FILE to its path. If it is lost for good, run: capstan audit accept",
      { data: { path }, cause: thrown },
    );
  }
}

function signerOf(key: KeyObject): AuditSigner {
  const publicKey = createPublicKey(key).export({ type: "spki", format: "der" }).toString("base64");
  return {
    id: keyIdOf(publicKey),
    publicKey,
    sign: (text) => sign(null, Buffer.from(text), key).toString("base64"),
  };
}

/** A hard link never replaces a file: if several processes create a key at once, all get the first one's. */
function writeOnce(path: string, text: string): void {
  const unfinished = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    writeDurably(unfinished, text);
    linkSync(unfinished, path);
  } catch (thrown) {
    if (!existsSync(path)) throw unwritable(path, thrown);
  } finally {
    discard(unfinished);
  }
}

/** Writes all or nothing, even if the power fails. */
function writePrivately(path: string, text: string): void {
  const unfinished = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    writeDurably(unfinished, text);
    renameSync(unfinished, path);
  } catch (thrown) {
    discard(unfinished);
    throw unwritable(path, thrown);
  }
}

function discard(path: string): void {
  if (existsSync(path)) rmSync(path, { force: true });
}

function writeDurably(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = openSync(path, "wx", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function unwritable(path: string, thrown: unknown): CapstanError {
  return new CapstanError(
    "store_failed",
    `${path} cannot be written (${messageOf(thrown)}). Give this user write permission for its directory, or set ` +
      "CAPSTAN_AUDIT_KEY_FILE to a file in another directory.",
    { data: { path }, cause: thrown },
  );
}
