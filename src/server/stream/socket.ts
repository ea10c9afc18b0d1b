import { upgradeWebSocket } from "@hono/node-server";
import { Hono } from "hono";
import type { WebSocket } from "ws";
import { z } from "zod";
import { streamQuery } from "../../protocol/api/session-requests.ts";
import { showClipped } from "./clipped-event.ts";
import { type Env, requireRole, type ServerDeps } from "../http/context.ts";
import { Follower, type EndReason, type Frame, type Outlet, PING } from "./follower.ts";
import { ApiFailure } from "../http/failure.ts";
import { findSession } from "../http/lookup.ts";
import { givenPosition, requireWithinLog, surroundings } from "./stream.ts";
import { wake } from "./turn-start.ts";

/** In bytes: the largest message that a client may send. Clients send only pings. */
export const MAX_CLIENT_MESSAGE = 1_024;

const clientMessage = z.strictObject({ type: z.literal("ping") });
const PONG: Frame = { event: "pong", data: { type: "pong" } };

/** Codes of RFC 6455. */
const NORMAL = 1_000;
const GOING_AWAY = 1_001;
const NOT_ALLOWED = 1_008;
const FAILED = 1_011;

const CLOSINGS: Record<EndReason, readonly [code: number, reason: string]> = {
  over: [NORMAL, "there is nothing more to follow"],
  shutdown: [GOING_AWAY, "the server is shutting down; reconnect with ?after="],
  lapsed: [NOT_ALLOWED, "the key or login is no longer valid"],
};

/** `/sessions/:id/socket`: a session's events as JSON frames, starting after the position in `?after=`. */
export function socketRoutes({ runtime }: ServerDeps): Hono<Env> {
  const routes = new Hono<Env>();
  routes.get("/sessions/:id/socket", async (c) => {
    const { project } = requireRole(c, "viewer");
    const id = c.req.param("id");
    const record = await findSession({ runtime }, project, id);
    const after = givenPosition("after", c.req.query("after"));
    requireWithinLog("after", after, await runtime.head(id));
    const clip = clipGiven(c.req.query("clip"));
    // Checked last, so that a plain request shows why a socket was refused: browsers do not tell a page.
    if (c.req.header("upgrade")?.toLowerCase() !== "websocket")
      throw new ApiFailure(
        "invalid_request_error",
        "This address requires a WebSocket. For server-sent events, use the session's event stream.",
        { status: 426 },
      );
    wake(runtime, c, record);
    const { describe, waiting, ...around } = surroundings(c);
    let follower: Follower | undefined;
    // A client that sends pings and reads no answers would fill the buffer.
    const cutWhenFull = (socket: WebSocket): boolean => {
      if (socket.bufferedAmount <= waiting.maxWaitingBytes) return false;
      follower?.cut();
      return true;
    };
    return upgradeWebSocket(c, {
      onOpen(_event, { raw }) {
        const socket = raw as unknown as WebSocket;
        const outlet = new SocketOutlet(socket, { room: waiting.room, describe });
        const forget = waiting.count(() => socket.bufferedAmount);
        follower = new Follower({
          ...around,
          outlet,
          follow: (from, signal) => runtime.events(id, { after: from, signal }),
          show: showClipped(clip),
        });
        // The protocol's pong has been sent by now.
        socket.on("ping", () => cutWhenFull(socket));
        void follower.run(after).finally(forget);
      },
      onMessage({ data }, socket) {
        if (cutWhenFull(socket.raw as unknown as WebSocket)) return;
        if (isPing(data)) socket.send(JSON.stringify(PONG));
        else socket.close(NOT_ALLOWED, 'only {"type":"ping"} may be sent here');
      },
      onClose: () => follower?.stop(),
      onError: () => follower?.stop(),
    });
  });
  return routes;
}

/** The same parameter as for server-sent events. */
function clipGiven(text: string | undefined): number | undefined {
  const { data, error } = streamQuery.shape.clip.safeParse(text);
  if (error !== undefined)
    throw new ApiFailure("invalid_request_error", `clip: ${error.issues.map(({ message }) => message).join("; ")}.`);
  return data;
}

function isPing(data: unknown): boolean {
  try {
    return typeof data === "string" && clientMessage.safeParse(JSON.parse(data)).success;
  } catch {
    return false;
  }
}

interface SocketOptions {
  /** In bytes: how much may wait now. */
  readonly room: () => number;
  readonly describe: (thrown: unknown) => Record<string, unknown>;
}

class SocketOutlet implements Outlet {
  readonly #socket: WebSocket;
  readonly #options: SocketOptions;
  #lastSent: Promise<void> = Promise.resolve();
  /** Whether the client has responded since the last heartbeat. */
  #isAlive = true;

  constructor(socket: WebSocket, options: SocketOptions) {
    this.#socket = socket;
    this.#options = options;
    socket.on("pong", () => (this.#isAlive = true));
  }

  get isFull(): boolean {
    return this.#socket.bufferedAmount > this.#options.room();
  }

  waitForDrain(): Promise<void> {
    return this.#lastSent;
  }

  send(frame: Frame): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#lastSent = promise;
    // Called when the network has taken the frame, or when the socket has failed, which its close event reports.
    this.#socket.send(JSON.stringify(frame), () => resolve());
  }

  beat(): void {
    if (!this.#isAlive) return this.cut();
    this.#isAlive = false;
    this.#socket.ping();
    this.send(PING);
  }

  end(reason: EndReason): void {
    this.#socket.close(...CLOSINGS[reason]);
  }

  fail(thrown: unknown): void {
    this.send({ event: "error", data: this.#options.describe(thrown) });
    this.#socket.close(FAILED, "the stream failed");
  }

  cut(): void {
    this.#socket.terminate();
  }
}
