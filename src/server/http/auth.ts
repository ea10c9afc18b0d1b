import type { Context, MiddlewareHandler } from "hono";
import type { Clock } from "../../core/ports/clock.ts";
import type { KeyRecord, KeyStore } from "../../core/ports/registry.ts";
import type { LoginCookie } from "./cookie.ts";
import type { Caller, Env } from "./context.ts";
import { ApiFailure } from "./failure.ts";
import { hashOf, looksLikeKey, sameText } from "./key-secret.ts";

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
  const hash = hashOf(secret);
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
  keys.used(key.id, now).catch((thrown: unknown) => {
    c.get("log")?.warn({ err: thrown, key: key.id }, "could not record the use of a key");
  });
}

async function byLogin({ keys, clock, cookie }: AuthDeps, c: Context<Env>): Promise<void> {
  const header = c.req.header("cookie");
  const look = async (): Promise<Caller | "invalid" | undefined> => {
    const caller = cookie?.read(header, clock.now());
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
