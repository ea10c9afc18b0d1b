import { fileURLToPath } from "node:url";
import { CapstanError } from "../../core/errors.ts";

/** What `from` names: a local path, or a URL without a secret. */
export type CloneAddress =
  | { readonly kind: "path"; readonly path: string }
  | {
      readonly kind: "url";
      /**
       * Without user name and password. An https URL is normalized, because git could parse a different host from the
       * original.
       */
      readonly url: string;
      /** The URL with user name and password, if it contains them. */
      readonly credentialed?: string;
      /** Texts that no message may contain. */
      readonly secrets: readonly string[];
    };

/** The only protocols that git may use, even after a redirect. */
export const ALLOWED_PROTOCOLS = "https:ssh:file";

/** Throws `workspace_invalid`; the message never shows the input, which may contain a password. */
export function cloneAddress(from: string): CloneAddress {
  if (from.startsWith("-")) throw refusal('it begins with "-", which git would read as an option');
  if (/\p{Cc}/u.test(from)) throw refusal("it contains a line break or another control character");
  if (/^[\w+.-]*::/.test(from)) throw refusal('it names a helper program ("::")');
  const scheme = /^([a-z][a-z\d+.-]*):\/\//i.exec(from)?.[1]?.toLowerCase();
  if (scheme === "file") return { kind: "path", path: localPath(from) };
  if (scheme !== undefined) return remote(from, scheme);
  // Like git: a colon before the first slash separates a host from a path.
  const host = /^([^/:]+):/.exec(from)?.[1];
  if (host === undefined) return { kind: "path", path: from };
  if (/(?:^|@)-/.test(host)) throw refusal('its host begins with "-"');
  return { kind: "url", url: from, secrets: [] };
}

function localPath(from: string): string {
  try {
    return fileURLToPath(from);
  } catch (error) {
    throw refusal("it is a file URL of another machine, or not a valid one", error);
  }
}

function remote(from: string, scheme: string): CloneAddress {
  if (scheme !== "https" && scheme !== "ssh") throw refusal(`git may not use ${scheme} here`);
  // Some parsers treat it as a slash, git as part of the user name, so they would see different hosts.
  if (from.includes("\\")) throw refusal("it contains a backslash");
  const parsed = URL.parse(from);
  if (parsed === null) throw refusal("it is not a valid URL");
  if (parsed.hostname.startsWith("-")) throw refusal('its host begins with "-"');
  const { username, password } = parsed;
  if (scheme === "ssh") {
    // The user name is part of an ssh URL; a password has no use there.
    if (password !== "") throw refusal("ssh URLs cannot contain a password; use a key");
    return { kind: "url", url: from, secrets: [] };
  }
  const credentialed = parsed.href;
  if (username === "" && password === "") return { kind: "url", url: credentialed, secrets: [] };
  parsed.username = "";
  parsed.password = "";
  // Either of them may be a token.
  const written = /^[a-z]+:\/\/([^/?#]*)@/i.exec(from)?.[1] ?? "";
  const secrets = [written, username, password, decodeOrKeep(username), decodeOrKeep(password)];
  const known = [...new Set(secrets)].filter((text) => text !== "");
  return { kind: "url", url: parsed.href, credentialed, secrets: known };
}

function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function refusal(why: string, cause?: unknown): CapstanError {
  return new CapstanError(
    "workspace_invalid",
    `environment.workspace.from is refused: ${why}. Use an https or ssh URL, or the path of a repository.`,
    { cause },
  );
}
