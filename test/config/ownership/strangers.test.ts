import { expect, test } from "vitest";
import { isPrivateGroup, type Ownership, type Person, strangerTo } from "../../../src/config/project/file-ownership.ts";

const ME: Person = { uids: [1000], ownGroups: [1000] };

test.each<[what: string, Ownership, holds: boolean, ReturnType<typeof strangerTo>]>([
  ["my own directory", { uid: 1000, gid: 1000, mode: 0o40755 }, true, undefined],
  ["root's directory", { uid: 0, gid: 0, mode: 0o40755 }, true, undefined],
  ["somebody else's directory", { uid: 1001, gid: 1001, mode: 0o40755 }, true, "owner"],
  ["somebody else's file that only I could write", { uid: 1001, gid: 1000, mode: 0o100644 }, false, "owner"],
  ["mine with umask 002, of my private group", { uid: 1000, gid: 1000, mode: 0o40775 }, true, undefined],
  ["mine, of a group that others are in", { uid: 1000, gid: 50, mode: 0o40775 }, true, "group"],
  ["mine, of such a group that may only read", { uid: 1000, gid: 50, mode: 0o40755 }, true, undefined],
  ["mine, of root's group", { uid: 1000, gid: 0, mode: 0o40775 }, true, undefined],
  ["mine, that everybody writes to", { uid: 1000, gid: 1000, mode: 0o100666 }, false, "everybody"],
  ["a sticky directory such as /tmp", { uid: 0, gid: 0, mode: 0o41777 }, true, undefined],
  ["settings in a sticky directory of their own", { uid: 1000, gid: 1000, mode: 0o41777 }, false, "everybody"],
  ["a sticky directory of somebody else", { uid: 1001, gid: 1001, mode: 0o41777 }, true, "owner"],
])("%s", (_what, ownership, holds, stranger) => {
  expect(strangerTo(ownership, ME, { holds })).toBe(stranger);
});

test("what belongs to the person who called sudo is root's own", () => {
  expect(strangerTo({ uid: 1000, gid: 1000, mode: 0o40755 }, { uids: [0, 1000], ownGroups: [] })).toBeUndefined();
  expect(strangerTo({ uid: 1001, gid: 1001, mode: 0o40755 }, { uids: [0, 1000], ownGroups: [] })).toBe("owner");
});

test.each([
  ["one that only the user has", "ada:x:1000:", true],
  ["one that lists the user alone", "ada:x:1000:ada", true],
  ["one that another user is in", "ada:x:1000:grace", false],
  ["one from elsewhere, with the number of the user", "staff:x:20:", true],
])("the private group of a user is %s", (_what, group, isPrivate) => {
  expect(isPrivateGroup(1000, 1000, { passwd: "root:x:0:0::/:\nada:x:1000:1000::/:", group })).toBe(isPrivate);
});

test("a group that is another account's first group is private to nobody", () => {
  const passwd = "ada:x:1000:20::/:\ngrace:x:1001:20::/:";
  expect(isPrivateGroup(20, 1000, { passwd, group: "staff:x:20:" })).toBe(false);
  expect(isPrivateGroup(20, 1000, { passwd, group: "" })).toBe(false);
});
