import { CapstanError } from "../../core/errors.ts";
import { isLoopback, BROWSER } from "../../server/http/middleware.ts";
import { type ConnectionLimits, listen } from "../../server/listen.ts";
import { type AppOptions, openApp } from "./serve-app.ts";

export interface ServeOptions extends Omit<AppOptions, "access" | "isSecure"> {
  /** The person whom the printed address logs in. */
  readonly person: string;
  /** Where to listen. Default: port 4310 of 127.0.0.1. */
  readonly bind?: string;
  readonly port?: number;
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  /** Whether a proxy in front of the server handles TLS. */
  readonly behindProxy?: boolean;
  /** The URL that people and programs use, if it differs from the address that the server is bound to. */
  readonly publicUrl?: URL | undefined;
  readonly connections?: Partial<ConnectionLimits>;
}

export interface RunningServer {
  /** The URL for programs, without a trailing slash. */
  readonly url: string;
  /** For one browser, once. */
  readonly loginUrl: string;
  /**
   * Waits this many milliseconds for turns to finish, and interrupts the others so that they continue after the next
   * start.
   */
  suspend(graceMs: number): Promise<void>;
}

/** Assembles a server and starts it. */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const { bind = "127.0.0.1", port = 4310, tls, behindProxy = false, publicUrl, connections } = options;
  requireSafe(bind, tls !== undefined || behindProxy);
  const opened = await openApp({
    ...options,
    access: { bound: bind, publicUrl },
    isSecure: tls !== undefined || publicUrl?.protocol === "https:",
    // Behind a proxy, every request comes from this machine.
    openMetrics: options.openMetrics === true && !behindProxy,
  });
  try {
    const listening = await listen(opened.app, { host: bind, port, tls, limits: connections });
    const url = publicUrl?.origin ?? `http${tls === undefined ? "" : "s"}://${typeableAddress(bind)}:${listening.port}`;
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

/** A key sent over the network without encryption can be read by anyone. */
function requireSafe(bind: string, isSafe: boolean): void {
  if (isSafe || isLoopback(bind)) return;
  throw new CapstanError(
    "invalid_input",
    `${bind} can be reached from other machines, and keys would cross the network unencrypted. Set --tls-cert and --tls-key, use --behind-proxy if a proxy in front of this server handles TLS, or omit --host.`,
    { data: { bind } },
  );
}

/** Formats an address that can be opened. */
function typeableAddress(bind: string): string {
  if (bind === "0.0.0.0" || bind === "::") return "localhost";
  return bind.includes(":") ? `[${bind}]` : bind;
}
