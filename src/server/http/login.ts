import { randomBytes } from "node:crypto";
import { Hono } from "hono";
import type { Clock } from "../../core/ports/clock.ts";
import { messageOf } from "../../core/errors.ts";
import type { KeyStore } from "../../core/ports/registry.ts";
import { callerOf, keyOf } from "./middleware.ts";
import { readForm } from "../body/read.ts";
import type { LoginCookie } from "./cookie.ts";
import type { Caller, Env } from "./context.ts";
import { ApiFailure } from "./failure.ts";
import { hashSecret } from "./key-secret.ts";
import { loginPage, PAGE_HEADERS, refusedLoginPage } from "./pages.ts";

/** In milliseconds: how long the printed login address is valid. */
const LIFETIME_MS = 600_000;

/** One-time tokens for browser logins. Kept only in memory, so a restart invalidates them. */
export class LoginTokens {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, { readonly caller: Caller; readonly expiresAt: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  issue(caller: Caller): string {
    // 128 bits, valid for ten minutes, in an address that fits on one line.
    const token = randomBytes(16).toString("base64url");
    this.#waiting.set(hashSecret(token), { caller, expiresAt: this.#clock.now() + LIFETIME_MS });
    return token;
  }

  /** Uses up the token and returns its caller; undefined if it was used, has expired or never existed. */
  take(token: string): Caller | undefined {
    const key = hashSecret(token);
    const found = this.#waiting.get(key);
    this.#waiting.delete(key);
    return found !== undefined && found.expiresAt > this.#clock.now() ? found.caller : undefined;
  }
}

export interface LoginDeps {
  readonly tokens: LoginTokens;
  readonly cookie: LoginCookie;
  readonly keys: KeyStore;
  readonly clock: Clock;
}

/** Browser login with the printed address or with a key. */
export function loginRoutes({ tokens, cookie, keys, clock }: LoginDeps): Hono<Env> {
  const routes = new Hono<Env>();
  routes.get("/login", (c) => {
    const token = c.req.query("token");
    if (token === undefined) return c.html(loginPage(), 200, PAGE_HEADERS);
    // A HEAD request must not use up the token.
    const caller = c.req.method === "HEAD" ? undefined : tokens.take(token);
    if (caller === undefined)
      return c.html(
        refusedLoginPage(
          "This address was used before, or is older than ten minutes. Log in with a key, or restart the server and open the address that it prints.",
        ),
        401,
        PAGE_HEADERS,
      );
    c.header("set-cookie", cookie.issue(caller, clock.now()));
    return c.redirect("/");
  });
  routes.post("/login", async (c) => {
    const form = await readForm(c);
    const place = ownAddress(form.get("next"));
    try {
      const caller = callerOf(await keyOf(keys, (form.get("key") ?? "").trim()));
      c.header("set-cookie", cookie.issue(caller, clock.now()));
      return c.redirect(place, 303);
    } catch (thrown) {
      if (!(thrown instanceof ApiFailure)) throw thrown;
      return c.html(refusedLoginPage(messageOf(thrown), place), 401, PAGE_HEADERS);
    }
  });
  routes.post("/logout", (c) => {
    c.header("set-cookie", cookie.end(cookie.valueIn(c), clock.now()));
    return c.redirect("/login", 303);
  });
  return routes;
}

/** In characters: longer than any path of the console. */
const LONGEST_PLACE = 2_000;

/**
 * Where to go after login: always a path on this server, whatever the form says. Browsers treat a second slash or a
 * backslash as the start of another host and drop invisible characters, so only plain characters may follow.
 */
function ownAddress(next: string | null): string {
  const isOwn = next !== null && next.length <= LONGEST_PLACE && /^\/(?:[!-.0-[\]-~][!-[\]-~]*)?$/.test(next);
  return isOwn ? next : "/";
}
