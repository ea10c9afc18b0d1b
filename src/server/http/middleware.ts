import { randomBytes } from "node:crypto";
import { isIP } from "node:net";
import type { Context, MiddlewareHandler } from "hono";
import type { Env, Log, Caller } from "./context.ts";
import { ApiFailure } from "./failure.ts";
import type { Clock } from "../../core/ports/clock.ts";
import type { KeyRecord, KeyStore } from "../../core/ports/registry.ts";
import type { LoginCookie } from "./cookie.ts";
import { hashSecret, looksLikeKey, sameText } from "./key-secret.ts";

/** Requests by method and status since the server started. */
export class RequestCounts {
  readonly #counts = new Map<string, { method: string; status: number; count: number }>();

  add(method: string, status: number): void {
    // Clients can send any method, so the metric groups unknown ones.
    const known = METHODS.has(method) ? method : "OTHER";
    const key = `${known} ${status}`;
    const entry = this.#counts.get(key) ?? { method: known, status, count: 0 };
    entry.count += 1;
    this.#counts.set(key, entry);
  }

  all(): readonly { readonly method: string; readonly status: number; readonly count: number }[] {
    return [...this.#counts.values()];
  }
}

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Assigns every request an id, counts it, and logs one line: no query, headers or body. */
export function requestLog({ log, counts }: { log: Log; counts: RequestCounts }): MiddlewareHandler<Env> {
  return async (c, next) => {
    const started = performance.now();
    const id = `req_${randomBytes(12).toString("hex")}`;
    c.set("requestId", id);
    c.set("log", log);
    await next();
    c.res.headers.set("request-id", id);
    const status = statusOf(c);
    const { method, path } = c.req;
    counts.add(method, status);
    const caller = (c.get("caller") as Env["Variables"]["caller"] | undefined)?.id;
    const fields = { id, method, path, status, ms: Math.round(performance.now() - started), caller };
    // `c.error` is the original error, even if the answer hides it.
    if (status >= 500) log.error({ ...fields, err: c.error }, "request failed");
    else log.info(fields, "request");
  };
}

/** Sockets are answered by the upgrade, which hono does not see. */
function statusOf(c: Context<Env>): number {
  return c.res.status === 200 && c.req.header("upgrade")?.toLowerCase() === "websocket" ? 101 : c.res.status;
}

const POLICY = [
  "default-src 'self'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join("; ");

const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  // With "no-referrer", a browser would not send the origin of this server's own forms.
  "referrer-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cache-control": "no-store",
};

/** Applies to every answer, unless its route sets its own headers. */
export const securityHeaders: MiddlewareHandler<Env> = async (c, next) => {
  await next();
  for (const [name, value] of Object.entries(HEADERS)) if (!c.res.headers.has(name)) c.res.headers.set(name, value);
};

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

/** The id of a caller who logged in with the address that the server printed; all others have the id of a key. */
export const BROWSER = "browser";
/** In milliseconds: how often the use of a key is recorded. */
const NOTED_EVERY = 60_000;
const NEXT_STEP = "Create one with: capstan keys create";

interface AuthDeps {
  readonly keys: KeyStore;
  readonly clock: Clock;
  /** Absent for a server without browser logins. */
  readonly cookie?: LoginCookie | undefined;
  /** The caller of every request, if only one program can connect: its requests need no key. */
  readonly everybody?: Caller | undefined;
  /** Whether a request needs no authentication. */
  readonly isOpen: (c: Context<Env>) => boolean;
}

/** Identifies the caller by key or login. Rejects unknown callers, except for public paths. */
export function authentication(deps: AuthDeps): MiddlewareHandler<Env> {
  return async (c, next) => {
    if (deps.isOpen(c)) return next();
    const secret = givenKey(c);
    if (deps.everybody !== undefined) enter(c, deps.everybody, async () => true);
    else if (secret === undefined) await byLogin(deps, c);
    else await byKey(deps, c, secret);
    await next();
  };
}

async function byKey(deps: AuthDeps, c: Context<Env>, secret: string): Promise<void> {
  const key = await keyOf(deps.keys, secret);
  noteUse(deps, key, c);
  enter(c, callerOf(key), async () => (await deps.keys.byHash(key.hash))?.revokedAt === null);
}

export function callerOf({ project, role, id, name }: KeyRecord): Caller {
  return { project, role, id, name };
}

function enter(c: Context<Env>, caller: Caller, stillValid: () => Promise<boolean>): void {
  c.set("caller", caller);
  c.set("stillValid", stillValid);
}

/**
 * The first header present counts, even if it is wrong, so that nobody is authenticated as someone they did not name.
 */
function givenKey(c: Context<Env>): string | undefined {
  const plain = c.req.header("x-api-key")?.trim();
  if (plain) return plain;
  const header = c.req.header("authorization");
  if (header === undefined) return undefined;
  const [, token] = /^Bearer +(\S+) *$/i.exec(header) ?? [];
  if (token === undefined) throw refusal("The Authorization header must be: Bearer, a space, and the key.");
  return token;
}

/** Returns the record of a valid key. */
export async function keyOf(keys: KeyStore, secret: string): Promise<KeyRecord> {
  if (!looksLikeKey(secret))
    throw refusal(
      secret.startsWith("sk-ant-")
        ? `This is a key for the model API; this server needs its own. ${NEXT_STEP}`
        : `This is not a Capstan key: those begin with ck_ and have 46 characters. ${NEXT_STEP}`,
    );
  const hash = hashSecret(secret);
  const key = await keys.byHash(hash);
  if (key === undefined || !sameText(key.hash, hash))
    throw refusal(`This server does not know the key. List its keys with: capstan keys list. ${NEXT_STEP}`);
  if (key.revokedAt !== null) throw refusal(`The key ${key.id} was revoked. ${NEXT_STEP}`);
  return key;
}

function noteUse({ keys, clock }: AuthDeps, key: KeyRecord, c: Context<Env>): void {
  const now = clock.now();
  if (key.lastUsedAt !== null && now - key.lastUsedAt < NOTED_EVERY) return;
  // Not awaited: a store that cannot be written to can still be read.
  keys.recordUse(key.id, now).catch((thrown: unknown) => {
    c.get("log")?.warn({ err: thrown, key: key.id }, "could not record the use of a key");
  });
}

async function byLogin({ keys, clock, cookie }: AuthDeps, c: Context<Env>): Promise<void> {
  const login = cookie?.valueIn(c);
  const look = async (): Promise<Caller | "invalid" | undefined> => {
    const caller = cookie?.read(login, clock.now());
    if (caller === undefined || caller === "invalid") return caller;
    return (await isKeyInForce(keys, caller)) ? caller : "invalid";
  };
  const caller = await look();
  if (caller === undefined)
    throw refusal(`The request has no key. Send one as x-api-key, or as Authorization: Bearer. ${NEXT_STEP}`);
  if (caller === "invalid")
    throw refusal(`This login is no longer valid. Open /login and log in with a key. ${NEXT_STEP}`);
  enter(c, caller, async () => typeof (await look()) === "object");
}

/** A login by key ends when the key is revoked. */
async function isKeyInForce(keys: KeyStore, { id, project }: Caller): Promise<boolean> {
  if (id === BROWSER) return true;
  return (await keys.list(project)).some((key) => key.id === id && key.revokedAt === null);
}

function refusal(message: string): ApiFailure {
  return new ApiFailure("authentication_error", message);
}

interface Bucket {
  tokens: number;
  /** Milliseconds since the epoch. */
  at: number;
}

/** Limits requests per minute for each caller. Allows a burst of the whole amount, which then refills evenly. */
export function rateLimit({
  clock,
  requestsPerMinute,
}: {
  readonly clock: Clock;
  readonly requestsPerMinute: number;
}): MiddlewareHandler<Env> {
  const buckets = new Map<string, Bucket>();
  const perMs = requestsPerMinute / 60_000;
  return async (c, next) => {
    const caller = c.get("caller") as Env["Variables"]["caller"] | undefined;
    if (caller === undefined) return next();
    const now = clock.now();
    const bucket = buckets.get(caller.id) ?? { tokens: requestsPerMinute, at: now };
    buckets.set(caller.id, bucket);
    // A clock that jumps back changes nothing.
    bucket.tokens = Math.min(requestsPerMinute, bucket.tokens + Math.max(0, now - bucket.at) * perMs);
    bucket.at = now;
    if (bucket.tokens < 1) {
      const retryAfter = Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1_000));
      throw new ApiFailure(
        "rate_limit_error",
        `This key has made more than ${requestsPerMinute} requests in a minute. Retry in ${retryAfter} s.`,
        { retryAfter },
      );
    }
    bucket.tokens -= 1;
    await next();
  };
}
