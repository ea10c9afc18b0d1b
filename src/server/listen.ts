import { randomBytes } from "node:crypto";
import {
  createServer as createPlainServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { createAdaptorServer, getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";
import { WebSocketServer } from "ws";
import type { Env } from "./http/context.ts";
import { ApiFailure, errorBody } from "./http/failure.ts";
import { MAX_CLIENT_MESSAGE } from "./stream/socket.ts";

/** Limits for connections. Times are in milliseconds. */
export interface ConnectionLimits {
  /** The time for a request's headers; also applies to a connection that sends nothing. */
  readonly headersMs: number;
  /** The time for a whole request, including uploads. */
  readonly requestMs: number;
  /** How long a connection may stay open between two requests. */
  readonly keepAliveMs: number;
  /** How often connections are checked. */
  readonly checkEveryMs: number;
  readonly maxConnections: number;
}

const CONNECTION_LIMITS: ConnectionLimits = {
  headersMs: 20_000,
  requestMs: 300_000,
  keepAliveMs: 75_000,
  checkEveryMs: 5_000,
  maxConnections: 10_000,
};

export interface ListenOptions {
  readonly host: string;
  /** 0 for any free port. */
  readonly port: number;
  /** PEM. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  readonly limits?: Partial<ConnectionLimits> | undefined;
}

export interface Listening {
  readonly port: number;
  /** Stops accepting connections and closes idle ones. */
  stopListening(): void;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** Serves the app on a port. Rejects with Node's error if the port is not available. */
export async function listen(app: Hono<Env>, { host, port, tls, limits }: ListenOptions): Promise<Listening> {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: MAX_CLIENT_MESSAGE });
  const server = serverFor(app, sockets, { tls, limits: { ...CONNECTION_LIMITS, ...limits } });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen({ host, port }, resolve);
  await promise;
  server.off("error", reject);
  // Failing to accept one connection, for lack of file handles, must not end the server.
  server.on("error", () => {});
  const closed = new Promise<void>((done) => server.once("close", done));
  return {
    port: (server.address() as AddressInfo).port,
    stopListening() {
      if (server.listening) server.close();
    },
    async close() {
      if (server.listening) server.close();
      server.closeAllConnections();
      // Node no longer tracks upgraded sockets.
      for (const socket of sockets.clients) socket.terminate();
      await closed;
    },
  };
}

function serverFor(
  app: Hono<Env>,
  sockets: WebSocketServer,
  { tls, limits }: { readonly tls: ListenOptions["tls"]; readonly limits: ConnectionLimits },
): Server {
  const serverOptions: ServerOptions = {
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: limits.checkEveryMs,
  };
  const fetch: Parameters<typeof getRequestListener>[0] = (request, env) => app.fetch(request, env);
  // Answers what hono never sees, such as a broken Host header, without a body.
  const listener = getRequestListener(fetch, {
    errorHandler: () => Response.json(brokenRequest(), { status: 400 }),
  }) as RequestListener;
  const server = createAdaptorServer({
    fetch,
    websocket: { server: sockets },
    serverOptions: { ...serverOptions, ...(tls !== undefined && { ...tls, handshakeTimeout: limits.headersMs }) },
    createServer: ((options: ServerOptions) =>
      tls === undefined
        ? createPlainServer(options, listener)
        : createTlsServer(options, listener)) as typeof createPlainServer,
  }) as Server;
  server.maxConnections = limits.maxConnections;
  answerBrokenRequests(server);
  answerBrokenUpgrades(server);
  return server;
}

const BROKEN: Readonly<Record<string, readonly [status: string, message: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: ["408 Request Timeout", "The request did not arrive completely in time. Send it again."],
  HPE_HEADER_OVERFLOW: [
    "431 Request Header Fields Too Large",
    "The headers of the request are too large. Send fewer or shorter headers.",
  ],
};

/** Answers malformed or incomplete HTTP in the API's format. */
function answerBrokenRequests(server: Server): void {
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    if (error.code === "ECONNRESET" || !socket.writable) return socket.destroy();
    const [status, message] = BROKEN[error.code ?? ""] ?? [BAD_REQUEST, undefined];
    hangUp(socket, status, message);
  });
}

const BAD_REQUEST = "400 Bad Request";

/** hono's listener answers a broken Host header with 500, and upgrades other than WebSocket not at all. */
function answerBrokenUpgrades(server: Server): void {
  const [upgrade] = server.listeners("upgrade") as ((...given: Upgrade) => void)[];
  server.removeAllListeners("upgrade");
  server.on("upgrade", (...given: Upgrade) => {
    const [{ headers }, socket] = given;
    // The client may disconnect before it is answered.
    socket.on("error", () => socket.destroy());
    if (URL.parse(`http://${headers.host ?? ""}/`) === null) hangUp(socket, BAD_REQUEST);
    else if (headers.upgrade?.toLowerCase() !== "websocket")
      hangUp(socket, BAD_REQUEST, "This server supports only upgrades to WebSocket.");
    else upgrade?.(...given);
  });
}

type Upgrade = [request: IncomingMessage, socket: Duplex, head: Buffer];

function hangUp(socket: Duplex, status: string, message?: string): void {
  const body = JSON.stringify(brokenRequest(message));
  const head = [`HTTP/1.1 ${status}`, "content-type: application/json", `content-length: ${Buffer.byteLength(body)}`];
  socket.end(`${[...head, "connection: close"].join("\r\n")}\r\n\r\n${body}`, () => socket.destroy());
}

function brokenRequest(message = "The request is not valid HTTP."): Record<string, unknown> {
  return errorBody(new ApiFailure("invalid_request_error", message), `req_${randomBytes(12).toString("hex")}`);
}
