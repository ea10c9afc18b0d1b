import { lookup as systemLookup } from "node:dns";
import { lookup } from "node:dns/promises";
import { BlockList, isIP, type LookupFunction } from "node:net";
import { CapstanError } from "../core/errors.ts";

type Range = readonly [address: string, prefix: number];

/** IANA's special-purpose addresses: what only this machine and its own network can reach, and what is no machine at all. */
const SPECIAL_IPV4: readonly Range[] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  // Relays of 6to4.
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
];

/** Everything outside of it is local, reserved or stands for an IPv4 address: `::/96`, NAT64, `fc00::/7`, `fec0::/10` … */
const GLOBAL_IPV6: Range = ["2000::", 3];
const SPECIAL_IPV6: readonly Range[] = [
  // Protocols: Teredo, which carries an IPv4 address that could be any, benchmarks, ORCHID.
  ["2001::", 23],
  ["2001:db8::", 32],
  // 6to4 carries an IPv4 address too.
  ["2002::", 16],
  ["3fff::", 20],
];

const special = blockList(SPECIAL_IPV4, SPECIAL_IPV6);
const global = blockList([], [GLOBAL_IPV6]);
const mapped = blockList([], [["::ffff:0:0", 96]]);

function blockList(ipv4: readonly Range[], ipv6: readonly Range[]): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of ipv4) list.addSubnet(address, prefix, "ipv4");
  for (const [address, prefix] of ipv6) list.addSubnet(address, prefix, "ipv6");
  return list;
}

/** An IPv4 address written as an IPv6 one, `::ffff:…`, counts as what it stands for. */
export function isPrivateAddress(address: string): boolean {
  const kind = isIP(address);
  if (kind === 4) return special.check(address, "ipv4");
  // The scope of a link-local address is no part of it for the lists.
  if (kind === 0 || address.includes("%")) return true;
  return special.check(address, "ipv6") || !(global.check(address, "ipv6") || mapped.check(address, "ipv6"));
}

/** Throws what is wrong with an address before it is stored. A name is looked up when something is sent to it. */
export function checkedAddress(text: string, allowPrivate: boolean): URL {
  const url = URL.parse(text);
  if (url === null) throw refused(text, "it is no address");
  if (url.protocol !== "https:" && !(allowPrivate && url.protocol === "http:"))
    throw refused(text, "only https is spoken to addresses outside");
  if (url.username !== "" || url.password !== "") throw refused(url.origin, "it holds a password");
  if (!allowPrivate) requireOutside(url);
  return url;
}

/**
 * The addresses that a name leads to, for another program, which must connect to these: the name may lead elsewhere when
 * it is asked for again. Throws when one of them is of this machine or of a private network.
 */
export async function publicAddresses(url: URL): Promise<readonly string[]> {
  const found = await lookup(requireOutside(url), { all: true }).catch(() => {
    throw refused(url.origin, "its name cannot be looked up");
  });
  if (found.some(({ address }) => isPrivateAddress(address))) throw refused(url.origin, LEADS_INSIDE);
  return found.map(({ address }) => address);
}

const LEADS_INSIDE = "it leads to this machine or to a private network";

/** The host, without the brackets of an IPv6 address, unless what is written there is private already. */
function requireOutside({ hostname, origin }: URL): string {
  const host = hostname.replaceAll(/^\[|\]$/g, "");
  if (isIP(host) === 0 ? /(^|\.)localhost\.?$/i.test(host) : isPrivateAddress(host))
    throw refused(origin, LEADS_INSIDE);
  return host;
}

/**
 * Looks a name up for the connection itself, so that what was checked is what is connected to: a name may lead elsewhere
 * the next time it is asked for.
 */
export function publicLookup(allowPrivate: boolean): LookupFunction {
  return (hostname, options, callback) => {
    systemLookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, "", 0);
      const usable = allowPrivate ? found : found.filter(({ address }) => !isPrivateAddress(address));
      const [first] = usable;
      if (first === undefined) return callback(refused(hostname, LEADS_INSIDE), "", 0);
      if (options.all === true) callback(null, usable);
      else callback(null, first.address, first.family);
    });
  };
}

function refused(address: string, why: string): CapstanError {
  return new CapstanError(
    "invalid_input",
    `Nothing is sent to ${address}: ${why}. Give another address, or set server.allow_private_addresses in the server's settings.`,
    { data: { address } },
  );
}
