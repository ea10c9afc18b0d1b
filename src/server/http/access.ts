import { isIP } from "node:net";
import type { MiddlewareHandler } from "hono";
import type { Env } from "./context.ts";
import { ApiFailure } from "./failure.ts";

export interface AccessSettings {
  /** The address that the server is bound to, such as `127.0.0.1` or `0.0.0.0`. */
  readonly bound: string;
  /** The URL that people and programs use, if it differs: behind a proxy, or the name in a certificate. */
  readonly publicUrl?: URL | undefined;
}

const EVERY_ADDRESS = new Set(["0.0.0.0", "::"]);
/** Methods that do not change anything. */
export const READING = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Rejects requests that a page of another site could make a browser send: those for a host name that is not the
 * server's (DNS rebinding), and those from another origin. Programs send no Origin header and pass.
 */
export function accessCheck({ bound, publicUrl }: AccessSettings): MiddlewareHandler<Env> {
  const names = new Set([bound.toLowerCase(), "localhost"]);
  if (publicUrl !== undefined) names.add(plainName(publicUrl));
  if (isLoopback(bound)) for (const name of ["127.0.0.1", "::1"]) names.add(name);
  const isKnown = (name: string): boolean => names.has(name) || (EVERY_ADDRESS.has(bound) && isIP(name) !== 0);

  return async (c, next) => {
    const host = c.req.header("host") ?? new URL(c.req.url).host;
    const given = URL.parse(`http://${host}`);
    if (given === null || !isKnown(plainName(given)))
      throw new ApiFailure(
        "permission_error",
        `This server does not answer to the name ${JSON.stringify(host.slice(0, 100))}. Use ${publicUrl?.origin ?? `the address that it printed when it started`}, or start it with --public-url and the address that you use.`,
      );
    const origin = c.req.header("origin");
    if (origin !== undefined) {
      const isOwn = origin === publicUrl?.origin || URL.parse(origin)?.host === host.toLowerCase();
      if (!isOwn)
        throw new ApiFailure(
          "permission_error",
          `Requests from pages of ${JSON.stringify(origin.slice(0, 100))} are not allowed. Use this server's own pages, or a program that sends no Origin header.`,
        );
    }
    await next();
  };
}

/** Without the brackets of an IPv6 address. */
function plainName({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, "$1");
}

export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}
