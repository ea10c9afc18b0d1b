import { lookup as systemLookup } from "node:dns";
import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { CapstanError } from "../../core/errors.ts";
import { isPrivateAddress } from "../../network/private-address.ts";

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
