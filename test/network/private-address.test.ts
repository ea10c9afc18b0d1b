import { describe, expect, test } from "vitest";
import { isOwnNetwork, isPrivateAddress } from "../../src/network/private-address.ts";

/** An address, whether it is private, and whether a name that a person wrote down may lead there. */
const ADDRESSES: readonly (readonly [address: string, isPrivate: boolean, isOwn: boolean])[] = [
  ["8.8.8.8", false, false],
  ["2606:4700::1111", false, false],
  ["10.1.2.3", true, true],
  ["172.31.0.1", true, true],
  ["172.32.0.1", false, false],
  ["192.168.1.1", true, true],
  ["100.64.0.1", true, true],
  ["100.100.100.200", true, false],
  ["127.0.0.1", true, false],
  ["0.0.0.0", true, false],
  ["169.254.169.254", true, false],
  ["224.0.0.1", true, false],
  ["::", true, false],
  ["::1", true, false],
  ["::ffff:127.0.0.1", true, false],
  ["::ffff:169.254.169.254", true, false],
  ["64:ff9b::a9fe:a9fe", true, false],
  ["2002:7f00:1::", true, false],
  ["fc00::1", true, true],
  ["fdff:ffff::1", true, true],
  ["fd00:ec2::254", true, false],
  ["fd00:ec2::253", true, false],
  ["fd20:ce::254", true, false],
  ["fe80::1", true, false],
  ["fe80::1%eth0", true, false],
  ["febf::1", true, false],
  ["fec0::1", true, false],
  ["ff02::1", true, false],
  ["no address", true, false],
];

describe.each(ADDRESSES)("%s", (address, isPrivate, isOwn) => {
  test(`is ${isPrivate ? "private" : "public"}, and ${isOwn ? "may" : "may not"} be what a name in the settings leads to`, () => {
    expect(isPrivateAddress(address)).toBe(isPrivate);
    expect(isOwnNetwork(address)).toBe(isOwn);
  });
});
