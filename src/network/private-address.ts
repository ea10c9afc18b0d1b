import { BlockList, isIP } from "node:net";

type Range = readonly [address: string, prefix: number];

/** IANA's special-purpose addresses: reachable only from this machine and its network, or not at all. */
const SPECIAL_IPV4: readonly Range[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  // 6to4 relays.
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];

/** Everything else is local, reserved or maps an IPv4 address: `::/96`, NAT64, `fc00::/7`, `fec0::/10` … */
const GLOBAL_IPV6: Range = ["2000::", 3];
const SPECIAL_IPV6: readonly Range[] = [
  // Protocols: Teredo, which embeds any IPv4 address, benchmarks, ORCHID.
  ["2001::", 23],
  ["2001:db8::", 32],
  // 6to4 embeds an IPv4 address too.
  ["2002::", 16],
  ["3fff::", 20],
];

const special = blockList(SPECIAL_IPV4, SPECIAL_IPV6);
const global = blockList([], [GLOBAL_IPV6]);
const mapped = blockList([], [["::ffff:0:0", 96]]);

/** Private networks, … */
const OWN_IPV4: readonly Range[] = [
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
];
const OWN_IPV6: readonly Range[] = [["fc00::", 7]];
/** … and the cloud services in them that return keys to anyone who asks. */
const OF_CLOUDS_IPV4: readonly Range[] = [
  ["100.100.100.200", 32],
  ["192.0.0.192", 32],
];
const OF_CLOUDS_IPV6: readonly Range[] = [
  ["fd00:ec2::", 32],
  ["fd20:ce::", 32],
];

const own = blockList(OWN_IPV4, OWN_IPV6);
const ofClouds = blockList(OF_CLOUDS_IPV4, OF_CLOUDS_IPV6);

function blockList(ipv4: readonly Range[], ipv6: readonly Range[]): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of ipv4) list.addSubnet(address, prefix, "ipv4");
  for (const [address, prefix] of ipv6) list.addSubnet(address, prefix, "ipv6");
  return list;
}

/** An IPv4-mapped IPv6 address, `::ffff:…`, counts as its IPv4 address. */
export function isPrivateAddress(address: string): boolean {
  const kind = isIP(address);
  if (kind === 4) return special.check(address, "ipv4");
  // The lists ignore the scope of a link-local address.
  if (kind === 0 || address.includes("%")) return true;
  return special.check(address, "ipv6") || !(global.check(address, "ipv6") || mapped.check(address, "ipv6"));
}

/**
 * Whether a private address belongs to a private network (`10.0.0.0/8`, `fc00::/7` …). Excludes this machine, its local
 * link, and cloud metadata services.
 */
export function isOwnNetwork(address: string): boolean {
  const kind = isIP(address);
  if (kind === 0 || address.includes("%")) return false;
  const family = kind === 4 ? "ipv4" : "ipv6";
  return own.check(address, family) && !ofClouds.check(address, family);
}
