import { join } from "node:path";
import type { Hono } from "hono";
import type { Environment } from "../../config/project/home.ts";
import type { Configuration, Trusting } from "../../config/load.ts";
import type { EngineName } from "../../core/agent/engine-name.ts";
import type { ServerSettingsFile } from "../../core/environment/server-schema.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { AccessSettings } from "../../server/http/middleware.ts";
import { apiRoutes } from "../../server/api/routes.ts";
import { createApp } from "../../server/app.ts";
import { LoginCookie } from "../../server/http/cookie.ts";
import { ConsoleFiles } from "../../server/console.ts";
import type { Caller, Env, Log, ServerDeps, ServerSettings } from "../../server/http/context.ts";
import { LoginTokens } from "../../server/http/login.ts";
import { type StreamLimits, Streams } from "../../server/stream/streams.ts";
import { removeExpired } from "../../server/files/expired-files.ts";
import { v1Routes } from "../../server/v1/routes.ts";
import { sendDeliveries } from "../../server/webhooks/sender.ts";
import { fileContentsIn } from "../../store/disk/file-contents.ts";
import { clock, ids } from "../clock.ts";
import { consoleDirectory } from "../console-directory.ts";
import { WorkerPool } from "../heavy/pool.ts";
import { openStore } from "../open-store.ts";
import { endedLogins } from "./ended-logins.ts";
import { serverMetrics } from "./serve-metrics.ts";
import { apiPorts } from "./serve-ports.ts";
import { serverSecret } from "./server-secret.ts";

export interface AppOptions {
  /** The host ends with the server. */
  readonly openHost: () => Promise<Runtime>;
  readonly configuration: Pick<
    Configuration,
    "home" | "environment" | "project" | "settings" | "credentials" | "dotEnv"
  >;
  /** The variables and the directory that the server was started with. */
  readonly shell: Environment;
  readonly cwd: string;
  readonly log: Log;
  /** The trust in the project's files. Default: the recorded trust. */
  readonly trust?: Trusting;
  /** The engine of agents that name none, if set when the server was started. */
  readonly engine?: EngineName | undefined;
  readonly access: AccessSettings;
  /** The caller of every request, if only one program can connect. */
  readonly everybody?: Caller;
  /** Whether browsers connect over TLS. */
  readonly isSecure: boolean;
  /** Whether programs on this machine may read `/metrics` without a key. */
  readonly openMetrics?: boolean;
  readonly streams?: Partial<StreamLimits>;
}

export interface OpenedApp {
  readonly app: Hono<Env>;
  readonly tokens: LoginTokens;
  /** Ends streams, waits this many milliseconds for turns to finish, interrupts the others, and closes everything. */
  suspend(graceMs: number): Promise<void>;
}

/** Opens everything a server needs except the port, with a host that drives its sessions. */
export async function openApp(options: AppOptions): Promise<OpenedApp> {
  const { configuration, shell, cwd, log } = options;
  const { home, environment, settings } = configuration;
  const secret = serverSecret(home);
  const ended = endedLogins(home, clock.now());
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await openStore(home, environment));
  const host = await options.openHost();
  await using unfinished = new AsyncDisposableStack();
  unfinished.defer(() => host.close());
  const deps: ServerDeps = {
    runtime: host,
    registry: store.registry,
    contents: fileContentsIn(join(home, "files")),
    clock,
    ids,
    settings: settingsOf(settings.server),
  };
  const auditKey = environment["CAPSTAN_AUDIT_KEY_FILE"];
  const pool = stack.use(new WorkerPool({ home, environment: { CAPSTAN_AUDIT_KEY_FILE: auditKey } }));
  const ports = apiPorts({ configuration, shell, cwd, engine: options.engine, trust: options.trust }, store, pool);
  const streams = new Streams(options.streams);
  const tokens = new LoginTokens(clock);
  const page = consoleDirectory();
  if (page === undefined) log.warn({}, "the console was not built; in a clone, run npm run build");
  const app = createApp(deps, {
    v1: v1Routes(deps),
    root: apiRoutes({ ...deps, ...ports }),
    log,
    streams,
    access: options.access,
    everybody: options.everybody,
    login: { tokens, cookie: new LoginCookie({ secret, isSecure: options.isSecure, ended }) },
    metrics: serverMetrics(host, store),
    openMetrics: options.openMetrics === true,
    console: page === undefined ? undefined : new ConsoleFiles(page),
  });
  const working = new AbortController();
  const work = lookAfter(deps, working.signal, log);
  const parts = stack.move();
  // From now on the stack closes the host.
  unfinished.move();
  return {
    app,
    tokens,
    async suspend(graceMs) {
      streams.close();
      working.abort();
      try {
        await host.suspend(graceMs);
        await work;
      } finally {
        await parts.disposeAsync();
      }
    },
  };
}

export const SERVER_SETTINGS: ServerSettings = {
  maxBodyBytes: 32 * 1_048_576,
  maxUploadBytes: 500 * 1_048_576,
  requestsPerMinute: 6_000,
  allowPrivateAddresses: false,
};

function settingsOf(file: ServerSettingsFile): ServerSettings {
  return {
    maxBodyBytes: file.max_body_bytes ?? SERVER_SETTINGS.maxBodyBytes,
    maxUploadBytes: file.max_upload_bytes ?? SERVER_SETTINGS.maxUploadBytes,
    requestsPerMinute: file.requests_per_minute ?? SERVER_SETTINGS.requestsPerMinute,
    allowPrivateAddresses: file.allow_private_addresses ?? SERVER_SETTINGS.allowPrivateAddresses,
  };
}

/** Background work: sessions that an earlier host left behind, webhooks, and expired files. */
async function lookAfter(
  { runtime, registry, contents, settings }: ServerDeps,
  signal: AbortSignal,
  log: Log,
): Promise<void> {
  const onProblem = (session: string, err: unknown): void => log.warn({ session, err }, "a session cannot continue");
  const webhooks = { webhooks: registry.webhooks, clock, allowPrivate: settings.allowPrivateAddresses };
  const works: Readonly<Record<string, Promise<void>>> = {
    sessions: runtime.watch({ signal, onProblem }),
    webhooks: sendDeliveries(webhooks, signal),
    files: removeExpired({ files: registry.files, contents, clock }, signal),
  };
  await Promise.all(
    Object.entries(works).map(([what, work]) =>
      work.catch((err: unknown) => log.error({ err }, `background work stopped: ${what}`)),
    ),
  );
}
