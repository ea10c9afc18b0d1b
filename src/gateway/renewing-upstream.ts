import { CapstanError } from "../core/errors.ts";
import type { Billing } from "../core/ledger.ts";
import { errorResponse, isRefusal } from "./answer.ts";
import type { SecretSource } from "./secret-source.ts";
import type { Upstream } from "./upstream.ts";

interface RenewingOptions {
  readonly billing: Billing;
  readonly source: SecretSource;
  /** The upstream with such a secret. Its refusals are read to their end before they are given. */
  readonly make: (secret: string) => Upstream | Promise<Upstream>;
}

/**
 * An upstream whose secret may change while the host runs. A secret that is refused is read again: if it is another one
 * by then, the request is repeated with it, once; if not, it is read again before the next request, because a person
 * may have put a new one there.
 */
export async function renewingUpstream({ billing, source, make }: RenewingOptions): Promise<Upstream> {
  let current = await read();
  let isStale = false;
  let renewal: Promise<void> | undefined;

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

  /** Once for all requests that need it at the same time. */
  function renew(): Promise<void> {
    renewal ??= readAgain().finally(() => (renewal = undefined));
    return renewal;
  }

  return {
    billing,
    isPlain: current.upstream.isPlain === true,
    remedy: source.remedy,
    async send(request) {
      try {
        if (isStale) await renew();
        const used = current;
        const answer = await used.upstream.send(request);
        if (!isRefusal(answer.status) || source.isFixed) return answer;
        // Another request may have come by a new secret while this one was under way.
        if (current === used) await renew();
        const repeated = current === used ? answer : await current.upstream.send(request);
        isStale ||= isRefusal(repeated.status);
        return repeated;
      } catch (thrown) {
        // The secret cannot be read at all, which is as good as refused. Everything else is about the connection.
        if (!(thrown instanceof CapstanError)) throw thrown;
        return errorResponse({ status: 401, type: "authentication_error", message: thrown.message });
      }
    },
  };
}
