/** What a file says about who may change it. */
export interface Ownership {
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

/** The person that a process works for. */
export interface Person {
  /** More than one for `sudo`: root, and who called it. */
  readonly uids: readonly number[];
  /** Groups that nobody else is in. */
  readonly ownGroups: readonly number[];
}

const STICKY = 0o1000;
const OTHERS_WRITE = 0o002;
const GROUP_WRITES = 0o020;

/**
 * Who besides the person and root could have written something: its owner, or whoever may write to it. `holds` is for the
 * directory that something lies in: in a sticky one such as /tmp nobody can replace what belongs to another user, so that
 * its own permissions do not matter.
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
 * Whether a group is the private one of a user, as machines with umask 002 give everybody one: nobody else has it. A
 * group that is not in the file comes from elsewhere; it counts when it has the number of the user, as such groups do.
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
