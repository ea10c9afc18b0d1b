import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../../core/ports/clock.ts";
import { messageOf } from "../../core/errors.ts";
import type { DeliveryRecord, WebhookRecord, WebhookStore } from "../../core/ports/registry.ts";
import { checkedAddress, publicLookup } from "../http/address.ts";
import { signedHeaders } from "./signature.ts";

export interface SenderDeps {
  readonly webhooks: WebhookStore;
  readonly clock: Clock;
  readonly allowPrivate: boolean;
  /** How often to read the store, in milliseconds. */
  readonly lookEveryMs?: number;
  /** Milliseconds until the next attempt, by the number of attempts so far; undefined to stop. */
  readonly backoff?: (attempts: number) => number | undefined;
}

/** In milliseconds. A receiver that does not respond within this time counts as failed. */
const TIMEOUT_MS = 10_000;
/** Longer than an attempt takes, so that no other host sends the same delivery. */
const LEASE_MS = 60_000;
/** How many webhooks to serve at once, and how many deliveries for each. */
const WEBHOOKS_AT_ONCE = 20;
const EACH_AT_ONCE = 5;
/** How long the deliveries' log is kept. */
const KEPT_MS = 30 * 86_400_000;
const PRUNE_EVERY_MS = 3_600_000;
/** In seconds: about nine hours in all. */
const WAITS = [5, 30, 120, 600, 1_800, 3_600, 10_800, 14_400];
/** The receiver wants no more deliveries. */
const GONE = 410;

/**
 * Sends due deliveries until `signal` aborts. Several hosts may do so at once. A webhook gets its next batch when the
 * current one has succeeded or failed, so a slow receiver delays only itself.
 */
export async function sendDeliveries(deps: SenderDeps, signal: AbortSignal): Promise<void> {
  const { webhooks, clock, lookEveryMs = 500 } = deps;
  /** By webhook id: settles when it may receive its next batch. */
  const busy = new Map<string, Promise<unknown>>();
  let pruneAt = 0;
  while (!signal.aborted) {
    if (clock.now() >= pruneAt) {
      pruneAt = clock.now() + PRUNE_EVERY_MS;
      await webhooks.prune(clock.now() - KEPT_MS).catch(() => {});
    }
    const limit = Math.max(0, WEBHOOKS_AT_ONCE - busy.size) * EACH_AT_ONCE;
    const wanted = { limit, limitEach: EACH_AT_ONCE, except: [...busy.keys()], leaseMs: LEASE_MS };
    // If the store is busy, the next round tries again.
    const due = await webhooks.due(clock.now(), wanted).catch(() => []);
    for (const [webhookId, deliveries] of Map.groupBy(due, (delivery) => delivery.webhookId)) {
      // If the store fails to record a delivery, it is sent again: receivers must check the id.
      const work = Promise.allSettled(deliveries.map((delivery) => attempt(deps, delivery, signal)));
      busy.set(
        webhookId,
        work.finally(() => busy.delete(webhookId)),
      );
    }
    await Promise.race([...busy.values(), sleep(lookEveryMs, undefined, { signal }).catch(() => {})]);
  }
  await Promise.all(busy.values());
}

async function attempt(deps: SenderDeps, delivery: DeliveryRecord, signal: AbortSignal): Promise<void> {
  const { webhooks, clock, backoff = wait } = deps;
  const { id, project, webhookId } = delivery;
  const webhook = await webhooks.get(project, webhookId);
  const attempts = delivery.attempts + 1;
  // It was just removed or disabled.
  if (webhook === undefined || webhook.disabledAt !== null) return;
  const { status, error } = await send(deps, webhook, delivery, signal);
  // The host is stopping: another attempt follows, and this one does not count.
  if (signal.aborted && status === null) return;
  const isDelivered = status !== null && status >= 200 && status < 300;
  const next = isDelivered ? undefined : backoff(attempts);
  if (status === GONE) await webhooks.disable(project, webhookId, clock.now());
  await webhooks.recordAttempt(id, {
    status: isDelivered ? "delivered" : next === undefined || status === GONE ? "failed" : "waiting",
    attempts,
    nextAt: clock.now() + (next ?? 0),
    lastStatus: status,
    lastError: isDelivered ? null : (error ?? `The receiver answered with status ${status}.`),
  });
}

interface Answer {
  readonly status: number | null;
  readonly error?: string;
}

/** Follows no redirects: only the given address was checked. */
function send(
  { clock, allowPrivate }: SenderDeps,
  { url: address, secret }: WebhookRecord,
  { id, body }: DeliveryRecord,
  signal: AbortSignal,
): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  try {
    const url = checkedAddress(address, allowPrivate);
    const request = url.protocol === "http:" ? httpRequest : httpsRequest;
    const sent = request(url, {
      method: "POST",
      // A separate connection: a reused one was not resolved here.
      agent: false,
      lookup: publicLookup(allowPrivate),
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      headers: {
        "content-type": "application/json",
        "user-agent": "capstan",
        ...signedHeaders(secret, { id, at: clock.now(), body }),
      },
    });
    sent.on("response", (response) => {
      resolve({ status: response.statusCode ?? null });
      // The response's content is ignored and may be long.
      response.destroy();
    });
    sent.on("error", (error) => resolve({ status: null, error: messageOf(error) }));
    sent.end(body);
  } catch (thrown) {
    resolve({ status: null, error: messageOf(thrown) });
  }
  return promise;
}

function wait(attempts: number): number | undefined {
  const seconds = WAITS[attempts - 1];
  return seconds === undefined ? undefined : seconds * 1_000;
}
