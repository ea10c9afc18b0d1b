import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Clock } from "../core/ports/clock.ts";
import type { Gateway, GatewayAccess, GatewaySession } from "../core/ports/gateway.ts";
import { DO_NOT_RETRY, sendError } from "./answer.ts";
import { CredentialWait } from "./credentials/credential-wait.ts";
import { type Admission, type ExchangeDeps, handleExchange, type Route } from "./exchange.ts";
import { ExpiredCredential } from "./credentials/expired-credential.ts";
import type { Upstream, UpstreamFor } from "./upstreams/upstream.ts";

export interface GatewayOptions {
  /** One for all sessions, or the way to that of each provider. */
  readonly upstream: Upstream | UpstreamFor;
  readonly clock: Clock;
  /** How long the upstream may stay silent, in milliseconds. Default two minutes: less than the CLI's own three. */
  readonly idleTimeoutMs?: number;
  /** How long a request waits for another credential when its own has expired, in milliseconds. Default half an hour. */
  readonly credentialWaitMs?: number | undefined;
}

/** A timer that is to take longer goes off at once. */
const MAX_TIMER_MS = 2_147_483_647;

/** What the CLI needs, and nothing else. */
const ROUTES: readonly Route[] = [
  { name: "messages", method: "POST", path: "/v1/messages", isFree: false },
  { name: "count_tokens", method: "POST", path: "/v1/messages/count_tokens", isFree: true },
];

/** Opens the model API that the agent processes of this host talk to, on a free port of the loopback interface. */
export async function openGateway(options: GatewayOptions): Promise<Gateway> {
  const gateway = new LoopbackGateway(options);
  await gateway.listen();
  return gateway;
}

class LoopbackGateway implements Gateway {
  readonly #admissions = new Map<string, Admission>();
  readonly #deps: ExchangeDeps;
  readonly #clock: Clock;
  readonly #upstreamFor: UpstreamFor;
  readonly #credentialWaitMs: number;
  /** Every credential is held up, and comes to its end, on its own. */
  readonly #credentials = new WeakMap<Upstream, Pick<Admission, "wait" | "expiry">>();
  readonly #server = createServer((req, res) => this.#answer(req, res));

  constructor({ upstream, clock, idleTimeoutMs = 120_000, credentialWaitMs = 1_800_000 }: GatewayOptions) {
    this.#deps = { idleTimeoutMs };
    this.#credentialWaitMs = Math.min(credentialWaitMs, MAX_TIMER_MS);
    this.#clock = clock;
    this.#upstreamFor = typeof upstream === "function" ? upstream : async () => upstream;
    // A connection ends with its agent. Closing an idle one could only meet a request that is just being sent on it.
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
    const admission: Admission = { session, upstream, ...credential, responses: new Set(), unsettled: new Set() };
    this.#admissions.set(token, admission);
    const { port } = this.#server.address() as AddressInfo;
    const close = async (): Promise<void> => {
      this.#admissions.delete(token);
      await end(admission);
    };
    const { isPlain = false, billing } = upstream;
    return { url: `http://127.0.0.1:${port}`, token, isPlain, billing, close };
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
    // A client that hangs up shows as `close`; the error beside it has no other news.
    res.on("error", () => {});
    req.on("error", () => {});
    const admission = this.#admissions.get(tokenOf(req));
    if (admission === undefined) {
      const message = "This token is not valid: the session that it was made for is closed or unknown.";
      return sendError(res, { status: 401, type: "authentication_error", message, headers: DO_NOT_RETRY });
    }
    const path = (req.url ?? "").split("?")[0] ?? "";
    const route = ROUTES.find((one) => one.method === req.method && one.path === path);
    if (route === undefined)
      return sendError(res, {
        status: 404,
        type: "not_found_error",
        message: `Not served here: ${req.method} ${path}`,
      });
    admission.responses.add(res);
    res.once("close", () => admission.responses.delete(res));
    handleExchange({ req, res, admission, route }, this.#deps).catch(() => res.destroy());
  }
}

/** Waits until what was granted is settled, but not for a reservation under way: that may wait for a person. */
async function end({ responses, unsettled }: Admission): Promise<void> {
  for (const res of responses) res.destroy();
  await Promise.all(unsettled);
}

function tokenOf(req: IncomingMessage): string {
  const bearer = /^Bearer (.+)$/i.exec(req.headers.authorization ?? "")?.[1];
  return bearer ?? String(req.headers["x-api-key"] ?? "");
}
