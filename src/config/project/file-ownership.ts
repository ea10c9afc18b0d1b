/** The owner and mode of a file. */
export interface Ownership {
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

/** The user that a process works for. */
export interface Person {
  /** Two for `sudo`: root, and its caller. */
  readonly uids: readonly number[];
  /** Groups without other members. */
  readonly ownGroups: readonly number[];
}

const STICKY = 0o1000;
const OTHERS_WRITE = 0o002;
const GROUP_WRITES = 0o020;

/**
 * Who besides the user and root could have written something: its owner, or anyone with write permission. `holds` is
 * for the parent directory: in a sticky one such as /tmp nobody can replace another user's files, so its own
 * permissions do not matter.
 */
export function strangerTo(
  { uid, gid, mode }: Ownership,
  { uids, ownGroups }: Person,
  { holds = false }: { readonly holds?: boolean } = {},
): "owner" | "group" | "everybody" | undefined {
  if (uid !== 0 && !uids.includes(uid)) return "owner";
  if (holds && (mode & STICKY) !== 0) return undefined;
  if ((mode & OTHERS_WRITE) !== 0) return "everybody";
  return (mode & GROUP_WRITES) !== 0 && gid !== 0 && !ownGroups.includes(gid) ? "group" : undefined;
}

/** One line of /etc/passwd. */
interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

export function accountsIn(passwd: string): readonly Account[] {
  return passwd.split("\n").flatMap((line) => {
    const [name = "", , uid = "", gid = ""] = line.split(":");
    return name === "" || uid === "" || gid === "" ? [] : [{ name, uid: Number(uid), gid: Number(gid) }];
  });
}

/**
 * Whether a group is a user's private group, as created on machines with umask 002: it has no other members. A group
 * that is not in the file is defined elsewhere; it counts if its id is the user's, as usual for such groups.
 */
export function isPrivateGroup(
  gid: number,
  uid: number,
  { passwd, group }: { readonly passwd: string; readonly group: string },
): boolean {
  const accounts = accountsIn(passwd);
  const names = new Set(accounts.filter((account) => account.uid === uid).map(({ name }) => name));
  const line = group.split("\n").find((text) => text.split(":")[2] === String(gid));
  if (line === undefined) return gid === uid;
  const members = (line.split(":")[3] ?? "").split(",").filter((name) => name.trim() !== "");
  return (
    members.every((name) => names.has(name.trim())) &&
    accounts.every((account) => account.gid !== gid || account.uid === uid)
  );
}
