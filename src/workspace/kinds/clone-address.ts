import { fileURLToPath } from "node:url";
import { CapstanError } from "../../core/errors.ts";

/** What `from` names: a path of this machine, or an address that git can take without a secret in it. */
export type CloneAddress =
  | { readonly kind: "path"; readonly path: string }
  | {
      readonly kind: "url";
      /** Without a user's name or password. One of https is written as it was read here: git may read another host in it. */
      readonly url: string;
      /** The same with them, when it holds some. */
      readonly credentialed?: string;
      /** What no message may hold. */
      readonly secrets: readonly string[];
    };

/** The only ones git may use, also where a server sends it elsewhere. */
export const ALLOWED_PROTOCOLS = "https:ssh:file";

/** Throws `workspace_invalid`; the message never shows what was written, because it may hold a password. */
export function cloneAddress(from: string): CloneAddress {
  if (from.startsWith("-")) throw refused('it begins with "-", which git takes for an option');
  if (/\p{Cc}/u.test(from)) throw refused("it holds a line break or another control character");
  if (/^[\w+.-]*::/.test(from)) throw refused('it names a helper program ("::")');
  const scheme = /^([a-z][a-z\d+.-]*):\/\//i.exec(from)?.[1]?.toLowerCase();
  if (scheme === "file") return { kind: "path", path: localPath(from) };
  if (scheme !== undefined) return remote(from, scheme);
  // As git reads it: a colon before the first slash separates a host from a path.
  const host = /^([^/:]+):/.exec(from)?.[1];
  if (host === undefined) return { kind: "path", path: from };
  if (/(?:^|@)-/.test(host)) throw refused('its host begins with "-"');
  return { kind: "url", url: from, secrets: [] };
}

function localPath(from: string): string {
  try {
    return fileURLToPath(from);
  } catch (error) {
    throw refused("it is a file address of another machine, or none at all", error);
  }
}

function remote(from: string, scheme: string): CloneAddress {
  if (scheme !== "https" && scheme !== "ssh") throw refused(`git may not use ${scheme} here`);
  // Some read it as a slash, git as a part of the user's name: they would find two hosts in one address.
  if (from.includes("\\")) throw refused("it holds a backslash");
  const parsed = URL.parse(from);
  if (parsed === null) throw refused("it is not a valid address");
  if (parsed.hostname.startsWith("-")) throw refused('its host begins with "-"');
  const { username, password } = parsed;
  if (scheme === "ssh") {
    // The name of the user is part of an ssh address; a password has no use there.
    if (password !== "") throw refused("ssh takes no password in an address; use a key");
    return { kind: "url", url: from, secrets: [] };
  }
  const credentialed = parsed.href;
  if (username === "" && password === "") return { kind: "url", url: credentialed, secrets: [] };
  parsed.username = "";
  parsed.password = "";
  // A token may stand in the place of either.
  const written = /^[a-z]+:\/\/([^/?#]*)@/i.exec(from)?.[1] ?? "";
  const secrets = [written, username, password, decoded(username), decoded(password)];
  const known = [...new Set(secrets)].filter((text) => text !== "");
  return { kind: "url", url: parsed.href, credentialed, secrets: known };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function refused(why: string, cause?: unknown): CapstanError {
  return new CapstanError(
    "workspace_invalid",
    `environment.workspace.from is refused: ${why}. Give an https or ssh address, or the path of a repository.`,
    { cause },
  );
}
