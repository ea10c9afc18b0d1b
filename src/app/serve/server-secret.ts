import { randomBytes } from "node:crypto";
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CapstanError, messageOf } from "../../core/errors.ts";

const SHAPE = /^[A-Za-z0-9_-]{43}$/;

/** The secret that signs browser logins. Saved, so that logins survive a restart. */
export function serverSecret(home: string): Uint8Array {
  const path = join(home, "server-secret");
  try {
    if (!existsSync(path)) create(path, home);
    const text = readFileSync(path, "utf8").trim();
    if (SHAPE.test(text)) return Buffer.from(text, "base64url");
    throw new Error("its content is not a secret of the expected length");
  } catch (thrown) {
    throw new CapstanError(
      "store_failed",
      `The server's secret, ${path}, cannot be used: ${messageOf(thrown)}. Remove the file and restart the server, which creates a new one; everyone must then log in again.`,
      { data: { path }, cause: thrown },
    );
  }
}

/** A hard link never replaces a file: if several servers start at once, all get the first one's. */
function create(path: string, home: string): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const unfinished = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    writeFileSync(unfinished, `${randomBytes(32).toString("base64url")}\n`, { mode: 0o600, flag: "wx" });
    linkSync(unfinished, path);
  } catch (thrown) {
    if (!existsSync(path)) throw thrown;
  } finally {
    rmSync(unfinished, { force: true });
  }
}
