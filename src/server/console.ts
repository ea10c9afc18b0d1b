import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { Hono } from "hono";
import type { Env } from "./http/context.ts";

/** Only what the server itself serves may run, be shown or be asked; an image may also be one that somebody attaches. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** As the console's own routes have them. */
const PAGES = [
  "/",
  "/new",
  "/sessions/:id",
  "/approvals",
  "/costs",
  "/agents",
  "/agents/:id",
  "/policy",
  "/audit",
  "/audit/:id",
  "/tests",
  "/tests/:id",
  "/settings",
];
const PATTERN = new RegExp(`^(${PAGES.map((page) => page.replace(":id", "[^/]+")).join("|")})$`);
/** What begins with one of these is for programs, or has a page of its own. */
const OTHERS = /^\/(api|v1|docs|openapi\.json|health|ready|metrics|login|logout|assets)(\/|$)/;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

interface ConsoleFile {
  readonly whole: Uint8Array<ArrayBuffer>;
  /** Made when somebody wants it. */
  packed?: Uint8Array<ArrayBuffer>;
}

interface Answered {
  /** That the client understands. */
  readonly encodings: string | undefined;
  readonly status?: number;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The console as it was built when the server started: a newer build beside it must not leave pages half of the one and
 * half of the other. Who may see what, `/api` decides.
 */
export class ConsoleFiles {
  readonly #files: ReadonlyMap<string, ConsoleFile>;

  constructor(directory: string) {
    this.#files = new Map(filesIn(directory));
  }

  /** Whether a path is the console's: it holds nothing of anybody's, and needs nobody to be known. */
  isPart(path: string): boolean {
    return PATTERN.test(path) || isFile(path);
  }

  /** Whether somebody goes with their browser to an address where nothing is: the console tells them so. */
  isAstray(path: string, accepted: string | undefined): boolean {
    return /\btext\/html\b/.test(accepted ?? "") && !OTHERS.test(path);
  }

  /** The page itself; undefined when it was not built. */
  page(encodings: string | undefined, status = 200): Response | undefined {
    return this.answer("/index.html", { encodings, status, headers: { "content-security-policy": POLICY } });
  }

  answer(path: string, { encodings, status = 200, headers }: Answered): Response | undefined {
    const file = this.#files.get(path);
    if (file === undefined) return undefined;
    const isPacked = /\bgzip\b/.test(encodings ?? "");
    if (isPacked) file.packed ??= new Uint8Array(gzipSync(file.whole));
    return new Response(isPacked ? file.packed : file.whole, {
      status,
      headers: {
        "content-type": TYPES[extname(path)] ?? "application/octet-stream",
        vary: "accept-encoding",
        ...(isPacked && { "content-encoding": "gzip" }),
        ...headers,
      },
    });
  }
}

/** Names as the build gives them, so that nothing beside its directory can be named. */
function isFile(path: string): boolean {
  return /^\/(assets\/[\w-]+(\.[\w-]+)*\.(js|css)|early\.js|favicon\.svg)$/.test(path);
}

function* filesIn(directory: string): Generator<[path: string, ConsoleFile]> {
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (entry.isFile())
      yield [`/${relative(directory, file).replaceAll("\\", "/")}`, { whole: new Uint8Array(readFileSync(file)) }];
  }
}

export function consoleRoutes(files: ConsoleFiles): Hono<Env> {
  const routes = new Hono<Env>();
  for (const path of PAGES) routes.get(path, async (c, next) => files.page(c.req.header("accept-encoding")) ?? next());
  routes.get("*", async (c, next) => {
    const { path } = c.req;
    if (!isFile(path)) return next();
    // What is in assets/ has its content in its name. The others hardly ever change, and stand before the first paint.
    const caching = path.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "public, max-age=3600";
    const headers = { "cache-control": caching };
    return files.answer(path, { encodings: c.req.header("accept-encoding"), headers }) ?? next();
  });
  return routes;
}
