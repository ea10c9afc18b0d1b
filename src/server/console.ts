import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative } from "node:path";
import { gzipSync } from "node:zlib";
import { Hono } from "hono";
import type { Env } from "./http/context.ts";

/** Allows only content from this server; images may also be attachments. */
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

/** As in the console's own routes. */
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
/** Paths for programs, or with their own page. */
const OTHERS = /^\/(api|v1|docs|openapi\.json|health|ready|metrics|login|logout|assets)(\/|$)/;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

interface ConsoleFile {
  readonly whole: Uint8Array<ArrayBuffer>;
  /** Compressed on first use. */
  packed?: Uint8Array<ArrayBuffer>;
}

interface Answered {
  /** Encodings that the client accepts. */
  readonly encodings: string | undefined;
  readonly status?: number;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * The console's files as they were when the server started, so that a newer build does not mix with them. `/api`
 * decides who may see what.
 */
export class ConsoleFiles {
  readonly #files: ReadonlyMap<string, ConsoleFile>;

  constructor(directory: string) {
    this.#files = new Map(filesIn(directory));
  }

  /** Whether a path belongs to the console. Its files contain no data, so they need no login. */
  isPart(path: string): boolean {
    return PATTERN.test(path) || isFile(path);
  }

  /** Whether a browser requests a page that does not exist, for which the console shows its 404 page. */
  isAstray(path: string, accepted: string | undefined): boolean {
    return /\btext\/html\b/.test(accepted ?? "") && !OTHERS.test(path);
  }

  /** The console's page; undefined if it was not built. */
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

/** Accepts only names that the build creates, so that paths cannot leave its directory. */
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
    // Names in assets/ contain a content hash. The other files rarely change and block the first paint.
    const caching = path.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "public, max-age=3600";
    const headers = { "cache-control": caching };
    return files.answer(path, { encodings: c.req.header("accept-encoding"), headers }) ?? next();
  });
  return routes;
}
