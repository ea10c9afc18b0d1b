import { setTimeout as sleep } from "node:timers/promises";
import { CapstanError } from "../../core/errors.ts";
import type { Billing } from "../../core/money/ledger.ts";
import { errorResponse, isRefusal } from "../answer.ts";
import type { SecretSource } from "../credentials/secret-source.ts";
import type { Upstream } from "./upstream.ts";

interface RenewingOptions {
  readonly billing: Billing;
  readonly source: SecretSource;
  /** Creates the upstream with a secret. Its refusals are read to their end before they are returned. */
  readonly make: (secret: string) => Upstream | Promise<Upstream>;
}

/** How often the secret is read while requests wait for a new one. A command takes time, and may prompt the user. */
const LOOK_EVERY_MS = 1000;
const RUN_EVERY_MS = 15_000;

/**
 * An upstream whose secret may change while the host runs. A refused secret is read again: if it has changed, the
 * request is repeated with it, once; if not, it is read again before the next request, because a person may have
 * replaced it.
 */
export async function renewingUpstream({ billing, source, make }: RenewingOptions): Promise<Upstream> {
  let current = await read();
  let isStale = false;
  let renewal: Promise<void> | undefined;
  let look: Promise<string | undefined> | undefined;

  async function read(): Promise<{ readonly secret: string; readonly upstream: Upstream }> {
    const secret = await source.read();
    return { secret, upstream: await make(secret) };
  }

  async function readAgain(): Promise<void> {
    isStale = true;
    const next = await read();
    if (next.secret !== current.secret) current = next;
    isStale = false;
  }

  /** Shared by all requests that need it at the same time. */
  function renew(): Promise<void> {
    renewal ??= readAgain().finally(() => (renewal = undefined));
    return renewal;
  }

  /** Shared by all waiting requests. Undefined if no secret is available now. */
  function lookAgain(): Promise<string | undefined> {
    look ??= sleep(source.isCommand === true ? RUN_EVERY_MS : LOOK_EVERY_MS, undefined, { ref: false })
      .then(() => source.read())
      .catch(() => undefined)
      .finally(() => (look = undefined));
    return look;
  }

  /** Another request may find the new secret first, and use it. Failed reads are retried. */
  async function waitForRenewal(signal: AbortSignal): Promise<void> {
    if (source.leadsOn === true) return sleep(RUN_EVERY_MS, undefined, { signal, ref: false });
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const abort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", abort, { once: true });
    try {
      signal.throwIfAborted();
      for (;;) {
        if (!isStale) return;
        const found = await Promise.race([lookAgain(), aborted]);
        if (found !== undefined && found !== current.secret) return;
      }
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  return {
    billing,
    isPlain: current.upstream.isPlain === true,
    remedy: source.remedy,
    ...(!source.isFixed && { waitForRenewal }),
    async send(request) {
      try {
        if (isStale) await renew();
        const used = current;
        const answer = await used.upstream.send(request);
        if (!isRefusal(answer.status) || source.isFixed) return answer;
        // Another request may have found a new secret while this one was running.
        if (current === used) await renew();
        const repeated = current === used ? answer : await current.upstream.send(request);
        isStale ||= isRefusal(repeated.status);
        return repeated;
      } catch (thrown) {
        // A secret that can't be read counts as refused. All other errors are about the connection.
        if (!(thrown instanceof CapstanError)) throw thrown;
        return errorResponse({ status: 401, type: "authentication_error", message: thrown.message });
      }
    },
  };
}
