import { type Context, Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { methodNotAllowed } from "hono/method-not-allowed";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import {
  type AccessSettings,
  accessCheck,
  isLoopback,
  READING,
  authentication,
  rateLimit,
  RequestCounts,
  requestLog,
  securityHeaders,
} from "./http/middleware.ts";
import { limitAnswers } from "./answers/limit.ts";
import { WaitingAnswers } from "./answers/waiting.ts";
import { type BodyLimits, bodyLimits } from "./body/limits.ts";
import { bodyReaders } from "./body/read.ts";
import { type ConsoleFiles, consoleRoutes } from "./console.ts";
import { type Caller, type Env, type Log, requireRole, type ServerDeps } from "./http/context.ts";
import { ApiFailure, type ApiErrorType, asApiFailure, errorBody } from "./http/failure.ts";
import { healthRoutes } from "./http/health.ts";
import { type LoginDeps, loginRoutes } from "./http/login.ts";
import { metricsRoutes, type RuntimeMetrics } from "./metrics/metrics.ts";
import { homePage, PAGE_HEADERS } from "./http/pages.ts";
import { socketRoutes } from "./stream/socket.ts";
import { Streams } from "./stream/streams.ts";

/** The parts of a server. Omitted parts are not served, or default to loopback behavior. */
export interface AppParts {
  /** Mounted at `/v1`. */
  readonly v1?: Hono<Env>;
  /** Mounted at `/`: everything below `/api`, and the public documents. */
  readonly root?: Hono<Env>;
  /** The values of `/metrics` that only the runtime knows. */
  readonly metrics?: RuntimeMetrics;
  /** Whether programs on this machine may read `/metrics` without a key. */
  readonly openMetrics?: boolean;
  /** Default: none. */
  readonly log?: Log;
  /** Default: a server on loopback. */
  readonly access?: AccessSettings;
  /** The caller of every request, if only one program can connect. */
  readonly everybody?: Caller | undefined;
  /** How browsers log in; if absent, they cannot. */
  readonly login?: Pick<LoginDeps, "tokens" | "cookie">;
  readonly streams?: Streams;
  readonly answers?: WaitingAnswers;
  /** Overrides the limits that follow from the settings. */
  readonly bodies?: Partial<BodyLimits>;
  /** The console; if absent, `/` describes the API. */
  readonly console?: ConsoleFiles | undefined;
}

const SILENT: Log = { info() {}, warn() {}, error() {} };
const OPEN_PATHS = new Set(["/", "/login", "/logout", "/health", "/ready", "/docs", "/openapi.json"]);

/** Builds all routes and middleware. */
export function createApp(deps: ServerDeps, parts: AppParts = {}): Hono<Env> {
  const {
    log = SILENT,
    streams = new Streams(),
    answers = new WaitingAnswers(),
    access = { bound: "127.0.0.1" },
    login,
  } = parts;
  const { settings, clock, registry } = deps;
  const { keys } = registry;
  const counts = new RequestCounts();
  /** A browser on an unknown path gets the console's 404 page, which contains no data. */
  const isAstray = (c: Context<Env>): boolean =>
    READING.has(c.req.method) && parts.console?.isAstray(c.req.path, c.req.header("accept")) === true;
  const isOpen = (c: Context<Env>): boolean =>
    OPEN_PATHS.has(c.req.path) ||
    (READING.has(c.req.method) && parts.console?.isPart(c.req.path) === true) ||
    isAstray(c) ||
    (c.req.path === "/metrics" && parts.openMetrics === true && isNear(c));
  const app = new Hono<Env>();

  app.use(requestLog({ log, counts }));
  app.use(securityHeaders);
  app.use(accessCheck(access));
  app.use(authentication({ keys, clock, cookie: login?.cookie, everybody: parts.everybody, isOpen }));
  app.use(limitAnswers(answers));
  app.use(rateLimit({ clock, requestsPerMinute: settings.requestsPerMinute }));
  // Viewers may not change anything here, so their request bodies are not read.
  app.use("/v1/*", async (c, next) => {
    if (!READING.has(c.req.method)) requireRole(c, "operator");
    await next();
  });
  app.use(bodyReaders({ ...bodyLimits(settings), ...parts.bodies }));
  app.use(async (c, next) => {
    c.set("streams", streams);
    await next();
  });
  app.use(
    methodNotAllowed({
      app,
      onMethodNotAllowed: (c, methods) => {
        const allow = methods.join(", ");
        const message = `${c.req.method} is not allowed here. Use one of: ${allow}.`;
        const failure = new ApiFailure("invalid_request_error", message, { status: 405 });
        return c.json(errorBody(failure, c.get("requestId")), 405, { allow });
      },
    }),
  );

  app.route("/", healthRoutes({ runtime: deps.runtime, streams }));
  app.route("/", metricsRoutes({ runtime: parts.metrics ?? {}, counts, streams, answers, clock }));
  if (login !== undefined) app.route("/", loginRoutes({ ...login, keys, clock }));
  if (parts.console !== undefined) app.route("/", consoleRoutes(parts.console));
  app.get("/", (c) => {
    const origin = access.publicUrl?.origin ?? new URL(c.req.url).origin;
    return c.html(homePage(origin, { hasLogin: login !== undefined }), 200, PAGE_HEADERS);
  });
  app.route("/api", socketRoutes(deps));
  if (parts.root !== undefined) app.route("/", parts.root);
  if (parts.v1 !== undefined) app.route("/v1", parts.v1);

  // Returned instead of thrown, because only then the method is checked.
  app.notFound((c) => {
    const page = isAstray(c) ? parts.console?.page(c.req.header("accept-encoding"), 404) : undefined;
    if (page !== undefined) return page;
    const message = `Not found: ${c.req.path}. See /openapi.json.`;
    return c.json(errorBody(new ApiFailure("not_found_error", message), c.get("requestId")), 404);
  });
  app.onError((thrown, c) => {
    const failure = failureOf(thrown, c.req.raw.signal.aborted);
    if (failure.retryAfter !== undefined) c.header("retry-after", String(Math.ceil(failure.retryAfter)));
    // The official clients retry every conflict unless this header says that it is final.
    if (failure.isFinal) c.header("x-should-retry", "false");
    if (failure.type === "authentication_error") c.header("www-authenticate", 'Bearer realm="capstan"');
    // hono's types lack 529, which the API uses.
    return c.json(errorBody(failure, c.get("requestId")), failure.status as ContentfulStatusCode);
  });
  return app;
}

/** Whether the request comes from this machine. */
function isNear(c: Context<Env>): boolean {
  return isLoopback(c.env?.incoming?.socket.remoteAddress ?? "");
}

/** Converts hono's own errors to the API's format. */
function failureOf(thrown: unknown, isGone: boolean): ApiFailure {
  if (thrown instanceof HTTPException && thrown.status < 500)
    return new ApiFailure(REFUSALS[thrown.status] ?? "invalid_request_error", thrown.message);
  if (isGone && !(thrown instanceof ApiFailure))
    return new ApiFailure("invalid_request_error", "The request ended before its body was complete. Send it again.");
  return asApiFailure(thrown);
}

const REFUSALS: Partial<Record<number, ApiErrorType>> = {
  401: "authentication_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
};
