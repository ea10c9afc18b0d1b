import { lookup as systemLookup } from "node:dns";
import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { CapstanError } from "../../core/errors.ts";
import { isPrivateAddress } from "../../network/private-address.ts";

/** Validates a URL before it is saved; throws if it is not allowed. Names are resolved when something is sent. */
export function checkedAddress(text: string, allowPrivate: boolean): URL {
  const url = URL.parse(text);
  if (url === null) throw refusal(text, "it is not a URL");
  if (url.protocol !== "https:" && !(allowPrivate && url.protocol === "http:"))
    throw refusal(text, "addresses outside this machine need https");
  if (url.username !== "" || url.password !== "") throw refusal(url.origin, "it contains a password");
  if (!allowPrivate) requireOutside(url);
  return url;
}

/**
 * Resolves a name to the addresses that another program must connect to, because a second lookup may return others.
 * Throws if one of them belongs to this machine or a private network.
 */
export async function publicAddresses(url: URL): Promise<readonly string[]> {
  const found = await lookup(requireOutside(url), { all: true }).catch(() => {
    throw refusal(url.origin, "its name cannot be resolved");
  });
  if (found.some(({ address }) => isPrivateAddress(address))) throw refusal(url.origin, LEADS_INSIDE);
  return found.map(({ address }) => address);
}

const LEADS_INSIDE = "it points to this machine or a private network";

/** The host, without the brackets of an IPv6 address. Throws if it is private as written. */
function requireOutside({ hostname, origin }: URL): string {
  const host = hostname.replaceAll(/^\[|\]$/g, "");
  if (isIP(host) === 0 ? /(^|\.)localhost\.?$/i.test(host) : isPrivateAddress(host))
    throw refusal(origin, LEADS_INSIDE);
  return host;
}

/**
 * Resolves the name for the connection itself, so that the checked address is the one connected to: a second lookup may
 * return another.
 */
export function publicLookup(allowPrivate: boolean): LookupFunction {
  return (hostname, options, callback) => {
    systemLookup(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return callback(error, "", 0);
      const usable = allowPrivate ? found : found.filter(({ address }) => !isPrivateAddress(address));
      const [first] = usable;
      if (first === undefined) return callback(refusal(hostname, LEADS_INSIDE), "", 0);
      if (options.all === true) callback(null, usable);
      else callback(null, first.address, first.family);
    });
  };
}

function refusal(address: string, why: string): CapstanError {
  return new CapstanError(
    "invalid_input",
    `${address} is not allowed: ${why}. Use another address, or set server.allow_private_addresses in the server's settings.`,
    { data: { address } },
  );
}
