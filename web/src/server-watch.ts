import { takeEarly } from "./early-requests.ts";

/**
 * What every response reveals about the server: that it is up, its time, and whether the login is still valid.
 */

/** A single failed request does not count: leaving a page cancels its requests. */
const MISSED = 2;
/** In milliseconds until the response starts. */
const LATE_MS = 30_000;
/** In milliseconds. The server's time has whole seconds and responses take a while, so smaller differences are ignored. */
const COARSE = 5_000;

let missed = 0;
let ahead = 0;
const listeners = new Set<() => void>();
const refusals = new Set<() => void>();

/** Whether the server is unreachable, or a proxy reports that it is. */
export function isAway(): boolean {
  return missed >= MISSED;
}

/** Notified when the server goes away and when it is back. */
export function onServerChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Notified when a response says that nobody is logged in. */
export function onUnknown(listener: () => void): () => void {
  refusals.add(listener);
  return () => refusals.delete(listener);
}

/** The server's time in milliseconds: log times are the server's, and the browser's clock may be wrong. */
export function serverNow(): number {
  return asServerTime(Date.now());
}

/** Converts a browser time to server time. */
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

/** Fast polling requests: only these time out. */
const QUICK = /\/api\/(whoami|approvals|sessions(\/[^/?]+)?)(\?|$)/;

function isQuick(input: RequestInfo | URL, init: RequestInit | undefined): input is string {
  return typeof input === "string" && init?.method === "GET" && QUICK.test(input);
}

/** Aborts a request without a response: later requests would wait for it too. */
async function inTime(input: string, init: RequestInit | undefined): Promise<Response> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error(`no response within ${LATE_MS / 1_000} seconds`)), LATE_MS);
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
