import { CapstanError } from "../../core/errors.ts";
import { isLoopback, BROWSER } from "../../server/http/middleware.ts";
import { type ConnectionLimits, listen } from "../../server/listen.ts";
import { type AppOptions, openApp } from "./serve-app.ts";

export interface ServeOptions extends Omit<AppOptions, "access" | "isSecure"> {
  /** Whom the printed address logs in. */
  readonly person: string;
  /** Where to listen. Default: port 4310 of 127.0.0.1. */
  readonly bind?: string;
  readonly port?: number;
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  /** Something before the server does the TLS. */
  readonly behindProxy?: boolean;
  /** What people and programs type, when it is not the address that the server is bound to. */
  readonly publicUrl?: URL | undefined;
  readonly connections?: Partial<ConnectionLimits>;
}

export interface RunningServer {
  /** The address for programs, without a slash at its end. */
  readonly url: string;
  /** For one browser, once. */
  readonly loginUrl: string;
  /** Lets turns finish for so many milliseconds, and cuts the others so that the next start goes on with them. */
  suspend(graceMs: number): Promise<void>;
}

/** Puts a server together and starts it. */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { bind = "127.0.0.1", port = 4310, tls, behindProxy = false, publicUrl, connections } = options;
  requireSafe(bind, tls !== undefined || behindProxy);
  const opened = await openApp({
    ...options,
    access: { bound: bind, publicUrl },
    isSecure: tls !== undefined || publicUrl?.protocol === "https:",
    // Behind a proxy everybody comes from this machine.
    openMetrics: options.openMetrics === true && !behindProxy,
  });
  try {
    const listening = await listen(opened.app, { host: bind, port, tls, limits: connections });
    const url = publicUrl?.origin ?? `http${tls === undefined ? "" : "s"}://${shown(bind)}:${listening.port}`;
    const { project } = options.configuration;
    const token = opened.tokens.issue({ project: project.id, role: "admin", id: BROWSER, name: options.person });
    return {
      url,
      loginUrl: `${url}/login?token=${token}`,
      async suspend(graceMs) {
        listening.stopListening();
        try {
          await opened.suspend(graceMs);
        } finally {
          await listening.close();
        }
      },
    };
  } catch (thrown) {
    await opened.suspend(0);
    throw thrown;
  }
}

/** A key that goes over the network in the clear is everybody's. */
function requireSafe(bind: string, isSafe: boolean): void {
  if (isSafe || isLoopback(bind)) return;
  throw new CapstanError(
    "invalid_input",
    `${bind} can be reached from other machines, and keys would cross the network unencrypted. Give --tls-cert and --tls-key, or --behind-proxy when a proxy before this server does the TLS, or leave --host out.`,
    { data: { bind } },
  );
}

/** An address that can be typed. */
function shown(bind: string): string {
  if (bind === "0.0.0.0" || bind === "::") return "localhost";
  return bind.includes(":") ? `[${bind}]` : bind;
}
