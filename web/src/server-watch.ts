import { takeEarly } from "./early.ts";

/**
 * What every answer says about the server besides what was asked for: that it is there, what time it has, and whether it
 * still knows who asks.
 */

/** One request that fails is nothing yet: a page that is left cuts its own. */
const MISSED = 2;
/** In milliseconds, until an answer begins. */
const LATE_MS = 30_000;
/** In milliseconds. The server tells whole seconds, and an answer takes a while: less than that is no difference. */
const COARSE = 5_000;

let missed = 0;
let ahead = 0;
const listeners = new Set<() => void>();
const refusals = new Set<() => void>();

/** Whether nobody answers, or only something in between that cannot reach the server either. */
export function isAway(): boolean {
  return missed >= MISSED;
}

/** Told when the server goes away, and when it is back. */
export function onServerChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Told when an answer says that nobody is logged in. */
export function onUnknown(listener: () => void): () => void {
  refusals.add(listener);
  return () => refusals.delete(listener);
}

/** The time as the server has it, in milliseconds: times in the log are the server's, and the browser's clock may be wrong. */
export function serverNow(): number {
  return asServerTime(Date.now());
}

/** A moment of the browser's clock, as the server would have told it. */
export function asServerTime(at: number): number {
  return at + ahead;
}

export const watchedFetch: typeof fetch = async (input, init) => {
  try {
    const response = await (isQuick(input, init) ? inTime(input, init) : fetch(input, init));
    count(response.status >= 502 && response.status <= 504);
    note(response.headers.get("date"));
    if (response.status === 401) for (const tell of refusals) tell();
    return response;
  } catch (thrown) {
    if (init?.signal?.aborted !== true) count(true);
    throw thrown;
  }
};

/** What is asked again and again, and takes no time: the rest may take its own. */
const QUICK = /\/api\/(whoami|approvals|sessions(\/[^/?]+)?)(\?|$)/;

function isQuick(input: RequestInfo | URL, init: RequestInit | undefined): input is string {
  return typeof input === "string" && init?.method === "GET" && QUICK.test(input);
}

/** A question without an answer is given up: whoever asks next would wait for it too. */
async function inTime(input: string, init: RequestInit | undefined): Promise<Response> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error(`nothing within ${LATE_MS / 1_000} seconds`)), LATE_MS);
  const { promise, reject } = Promise.withResolvers<never>();
  late.signal.addEventListener("abort", () => reject(late.signal.reason), { once: true });
  const signal = init?.signal ? AbortSignal.any([init.signal, late.signal]) : late.signal;
  try {
    return await Promise.race([takeEarly(input) ?? fetch(input, { ...init, signal }), promise]);
  } finally {
    clearTimeout(timer);
  }
}

function count(isMissed: boolean): void {
  const before = isAway();
  missed = isMissed ? missed + 1 : 0;
  if (isAway() !== before) for (const tell of listeners) tell();
}

function note(date: string | null): void {
  const difference = Date.parse(date ?? "") - Date.now();
  if (!Number.isNaN(difference)) ahead = Math.abs(difference) < COARSE ? 0 : difference;
}
