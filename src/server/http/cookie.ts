import { createHash, createHmac, randomBytes } from "node:crypto";
import type { Context } from "hono";
import { getCookie } from "hono/cookie";
import { z } from "zod";
import { ROLES } from "../../core/ports/registry.ts";
import type { Caller } from "./context.ts";
import { sameText } from "./key-secret.ts";

/** In milliseconds: how long a browser stays logged in. */
const LIFETIME_MS = 7 * 86_400_000;

const login = z.strictObject({
  project: z.string(),
  role: z.enum(ROLES),
  id: z.string(),
  name: z.string(),
  /** The id of the login: the same person may have several. It is also a file name. */
  login: z.string().regex(/^[\w-]{22}$/),
  /** Milliseconds since the epoch. */
  expiresAt: z.number(),
});

/** Logins that were ended before they expired, by id. */
export interface EndedLogins {
  has(id: string): boolean;
  /** `until`: when the login would have expired, in milliseconds since the epoch. Throws if it cannot be saved. */
  add(id: string, until: number): unknown;
}

type Login = z.infer<typeof login>;

interface CookieOptions {
  readonly secret: Uint8Array;
  readonly isSecure: boolean;
  readonly ended: EndedLogins;
}

/** A browser's login, signed with the server's secret, so that it survives a restart. */
export class LoginCookie {
  readonly #secret: Uint8Array;
  readonly #isSecure: boolean;
  readonly #ended: EndedLogins;
  /** Cookies are shared between ports of a host, so two servers on one machine need different names. */
  readonly #name: string;

  constructor({ secret, isSecure, ended }: CookieOptions) {
    this.#secret = secret;
    this.#isSecure = isSecure;
    this.#ended = ended;
    const which = createHash("sha256").update(secret).digest("hex").slice(0, 8);
    this.#name = `${isSecure ? "__Host-" : ""}capstan_${which}`;
  }

  /** Returns the value of a `Set-Cookie` header. */
  issue({ project, role, id, name }: Caller, now: number): string {
    const caller = { project, role, id, name };
    const payload: Login = {
      ...caller,
      login: randomBytes(16).toString("base64url"),
      expiresAt: now + LIFETIME_MS,
    };
    const text = Buffer.from(JSON.stringify(payload)).toString("base64url");
    return this.#header(`${text}.${this.#sign(text)}`, LIFETIME_MS / 1_000);
  }

  /** What a browser sent; undefined when it sent no login of this server. */
  valueIn(c: Context): string | undefined {
    return getCookie(c, this.#name);
  }

  /**
   * Ends the login for good, even for copies of its cookie. Returns the value of a `Set-Cookie` header that removes it.
   */
  end(value: string | undefined, now: number): string {
    const found = this.#login(value, now);
    if (typeof found === "object") this.#ended.add(found.login, found.expiresAt);
    return this.#header("", 0);
  }

  /** Undefined if there is none; `invalid` if it is forged, damaged, expired or ended. */
  read(value: string | undefined, now: number): Caller | "invalid" | undefined {
    const found = this.#login(value, now);
    if (typeof found !== "object") return found;
    const { project, role, id, name } = found;
    return { project, role, id, name };
  }

  #login(value: string | undefined, now: number): Login | "invalid" | undefined {
    if (value === undefined) return undefined;
    const [text = "", signature = ""] = value.split(".");
    if (!sameText(signature, this.#sign(text))) return "invalid";
    const parsed = login.safeParse(JSON.parse(Buffer.from(text, "base64url").toString("utf8")));
    if (!parsed.success || parsed.data.expiresAt <= now || this.#ended.has(parsed.data.login)) return "invalid";
    return parsed.data;
  }

  #sign(text: string): string {
    return createHmac("sha256", this.#secret).update(`login ${text}`).digest("base64url");
  }

  #header(value: string, maxAge: number): string {
    const secure = this.#isSecure ? "; Secure" : "";
    return `${this.#name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Strict${secure}`;
  }
}
