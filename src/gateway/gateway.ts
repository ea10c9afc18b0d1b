import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "../core/ports/clock.ts";
import type { Gateway, GatewayAccess, GatewayAnswer, GatewayRequest, GatewaySession } from "../core/ports/gateway.ts";
import { DO_NOT_RETRY, type ErrorAnswer, sendError } from "./answer.ts";
import { LocalAnswer } from "./answer-sink.ts";
import { CredentialWait } from "./credentials/credential-wait.ts";
import { type AdmittedSession, type Exchange, type ExchangeDeps, handleExchange, type Route } from "./exchange.ts";
import { ExpiredCredential } from "./credentials/expired-credential.ts";
import { headerList } from "./headers.ts";
import type { Upstream, UpstreamFor } from "./upstreams/upstream.ts";

export interface GatewayOptions {
  /** One for all sessions, or a function that returns one per provider. */
  readonly upstream: Upstream | UpstreamFor;
  readonly clock: Clock;
  /** How long the upstream may be silent, in milliseconds. Default: two minutes, less than the CLI's own three. */
  readonly idleTimeoutMs?: number;
  /** How long a request with an expired credential waits for a new one, in milliseconds (default: 30 minutes). */
  readonly credentialWaitMs?: number | undefined;
}

/** A timer with a longer delay fires at once. */
const MAX_TIMER_MS = 2_147_483_647;

const UNKNOWN_TOKEN: ErrorAnswer = {
  status: 401,
  type: "authentication_error",
  message: "This token is not valid: its session is closed or unknown.",
  headers: DO_NOT_RETRY,
};

/** What engines need, and nothing else. */
const MESSAGES: Route = { name: "messages", method: "POST", path: "/v1/messages", isFree: false };
const ROUTES: readonly Route[] = [
  MESSAGES,
  { name: "count_tokens", method: "POST", path: "/v1/messages/count_tokens", isFree: true },
];

/** Opens the model API for the agent processes of this host, on a free port of the loopback interface. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const gateway = new LoopbackGateway(options);
  await gateway.listen();
  return gateway;
}

class LoopbackGateway implements Gateway {
  readonly #admissions = new Map<string, AdmittedSession>();
  readonly #deps: ExchangeDeps;
  readonly #clock: Clock;
  readonly #upstreamFor: UpstreamFor;
  readonly #credentialWaitMs: number;
  /** Each credential has its own waits and expiry. */
  readonly #credentials = new WeakMap<Upstream, Pick<AdmittedSession, "wait" | "expiry">>();
  readonly #server = createServer((req, res) => this.#answer(req, res));

  constructor({ upstream, clock, idleTimeoutMs = 120_000, credentialWaitMs = 1_800_000 }: GatewayOptions) {
    this.#deps = { idleTimeoutMs };
    this.#credentialWaitMs = Math.min(credentialWaitMs, MAX_TIMER_MS);
    this.#clock = clock;
    this.#upstreamFor = typeof upstream === "function" ? upstream : async () => upstream;
    // A connection ends with its agent. Closing an idle one could break a request that is just being sent.
    this.#server.keepAliveTimeout = 0;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject).listen(0, "127.0.0.1", resolve);
    });
  }

  async admit(session: GatewaySession): Promise<GatewayAccess> {
    const upstream = await this.#upstreamFor(session.provider);
    const credential = this.#credentials.get(upstream) ?? {
      wait: new CredentialWait(this.#clock),
      expiry: new ExpiredCredential(this.#clock, this.#credentialWaitMs),
    };
    this.#credentials.set(upstream, credential);
    const token = randomBytes(32).toString("base64url");
    const admission: AdmittedSession = { session, upstream, ...credential, responses: new Set(), unsettled: new Set() };
    this.#admissions.set(token, admission);
    const { port } = this.#server.address() as AddressInfo;
    const close = async (): Promise<void> => {
      this.#admissions.delete(token);
      await end(admission);
    };
    const { isPlain = false, billing } = upstream;
    const ask: GatewayAccess["ask"] = (request) => this.#ask(token, request);
    return { url: `http://127.0.0.1:${port}`, token, isPlain, billing, ask, close };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    const admissions = [...this.#admissions.values()];
    this.#admissions.clear();
    await Promise.all(admissions.map(end));
    this.#server.closeAllConnections();
    await closed;
  }

  #answer(req: IncomingMessage, res: ServerResponse): void {
    // `close` reports a client that hangs up; the error adds nothing.
    res.on("error", () => {});
    req.on("error", () => {});
    const admission = this.#admissions.get(tokenOf(req));
    if (admission === undefined) return sendError(res, UNKNOWN_TOKEN);
    const path = (req.url ?? "").split("?")[0] ?? "";
    const route = ROUTES.find((one) => one.method === req.method && one.path === path);
    if (route === undefined)
      return sendError(res, {
        status: 404,
        type: "not_found_error",
        message: `Not served here: ${req.method} ${path}`,
      });
    const headers = headerList(req.rawHeaders);
    this.#exchange({ res, admission, route, headers, isBeta: isBeta(req.url), body: req as AsyncIterable<Buffer> });
  }

  #ask(token: string, { isBeta, headers, body, signal }: GatewayRequest): Promise<GatewayAnswer> {
    const res = new LocalAnswer();
    const admission = this.#admissions.get(token);
    const stop = (): void => void res.destroy();
    signal.addEventListener("abort", stop, { once: true });
    res.once("close", () => signal.removeEventListener("abort", stop));
    if (admission === undefined) sendError(res, UNKNOWN_TOKEN);
    else if (signal.aborted) stop();
    else {
      const parts = { headers: Object.entries(headers), isBeta, body: [Buffer.from(body)] };
      this.#exchange({ res, admission, route: MESSAGES, ...parts });
    }
    return res.head;
  }

  #exchange(exchange: Exchange): void {
    const { res, admission } = exchange;
    admission.responses.add(res);
    res.once("close", () => admission.responses.delete(res));
    handleExchange(exchange, this.#deps).catch(() => res.destroy());
  }
}

/** Waits until granted requests are settled, but not for a pending reservation: that may wait for a person. */
async function end({ responses, unsettled }: AdmittedSession): Promise<void> {
  for (const res of responses) res.destroy();
  await Promise.all(unsettled);
}

function isBeta(url: string | undefined): boolean {
  return new URLSearchParams((url ?? "").split("?")[1]).get("beta") === "true";
}

function tokenOf(req: IncomingMessage): string {
  const bearer = /^Bearer (.+)$/i.exec(req.headers.authorization ?? "")?.[1];
  return bearer ?? String(req.headers["x-api-key"] ?? "");
}
