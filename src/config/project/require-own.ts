import { lstatSync, readFileSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { CapstanError } from "../../core/errors.ts";
import type { Environment } from "./home.ts";
import { accountsIn, isPrivateGroup, type Person, strangerTo } from "./file-ownership.ts";

/**
 * Throws if another user could have written configuration that is about to be used: it can name programs, which run as
 * the current user. Ignores files in `directory` that do not exist; checks a link and its target.
 */
export function requireOwn(directory: string, files: readonly string[], environment: Environment): void {
  // Ownership on Windows can't be checked this way.
  if (process.getuid === undefined) return;
  const person = thisPerson(environment);
  for (const path of [...files.map((file) => join(directory, file)), directory])
    for (const stats of [tryStat(path, lstatSync), tryStat(path, statSync)]) {
      // A link's own mode does not matter.
      const mode = stats?.isSymbolicLink() === true ? 0o755 : (stats?.mode ?? 0);
      const stranger =
        stats && strangerTo({ uid: stats.uid, gid: stats.gid, mode }, person, { holds: path === directory });
      if (stats !== undefined && stranger !== undefined) throw refusal(path, stats, stranger);
    }
}

function thisPerson(environment: Environment): Person {
  const [uid, gid] = [process.getuid?.() ?? -1, process.getgid?.() ?? -1];
  const caller = uid === 0 ? Number(environment["SUDO_UID"] || "0") : uid;
  const uids = [uid, ...(Number.isSafeInteger(caller) ? [caller] : [])];
  const databases = { passwd: textOf("/etc/passwd"), group: textOf("/etc/group") };
  const groups = [gid, ...accountsIn(databases.passwd).flatMap((one) => (uids.includes(one.uid) ? [one.gid] : []))];
  const ownGroups = groups.filter((one) => uids.some((user) => isPrivateGroup(one, user, databases)));
  return { uids, ownGroups };
}

function tryStat(path: string, look: (path: string) => Stats): Stats | undefined {
  try {
    return look(path);
  } catch {
    // A file that does not exist or can't be inspected can't be read either.
    return undefined;
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

const NEXT = "Work in a directory of your own, or remove it if it should not be there.";

function refusal(path: string, { uid, mode }: Stats, stranger: "owner" | "group" | "everybody"): CapstanError {
  const owner = accountsIn(textOf("/etc/passwd")).find((account) => account.uid === uid)?.name;
  const shown = owner === undefined ? `the user with id ${uid}` : `${owner} (user id ${uid})`;
  const octal = (mode & 0o7777).toString(8).padStart(4, "0");
  const what =
    stranger === "owner"
      ? `${path} belongs to ${shown}, not to you. Its settings could run programs as you, so they are not used. ${NEXT} If you trust it, take it over: chown -R "$(id -un)" ${quotePath(path)}`
      : `${path} can be changed by ${stranger === "group" ? "other members of its group" : "everybody"} (mode ${octal}). Its settings could run programs as you, so they are not used. ${NEXT} If it is yours: chmod go-w ${quotePath(path)}`;
  return new CapstanError("unsafe_owner", what, { data: { path, uid, ...(owner !== undefined && { owner }), mode } });
}

function quotePath(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
