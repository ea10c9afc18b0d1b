import { sentence } from "../core/text/text.ts";
import { DO_NOT_RETRY, sendError } from "./answer.ts";
import type { Delivery, RefusedRequest } from "./delivery.ts";
import type { AdmittedSession } from "./exchange.ts";
import { endWithError, keepAlive } from "./keep-alive.ts";

interface Refused extends Pick<Delivery, "res" | "cut"> {
  readonly admission: AdmittedSession;
}

/**
 * Waits for a new credential if the refused one was valid before and can change. False if none came in time, the agent
 * has left, or there is nothing to wait for: a wrong key is reported at once.
 */
export async function outlast(
  refused: RefusedRequest,
  { res, admission, cut, pingMs }: Refused & { readonly pingMs: number | undefined },
): Promise<boolean> {
  const { session, upstream, expiry } = admission;
  const patience = upstream.waitForRenewal !== undefined && expiry.isExpired(refused) ? expiry.patience() : undefined;
  if (patience === undefined || cut.signal.aborted) return false;
  const mended = await session.credentialExpired({ ...refusalReport(refused, admission), until: patience.until });
  using _ = pingMs === undefined ? undefined : keepAlive(res, pingMs);
  try {
    await upstream.waitForRenewal?.(AbortSignal.any([cut.signal, AbortSignal.timeout(patience.leftMs)]));
    return true;
  } catch {
    return false;
  } finally {
    await mended();
  }
}

/** The agent would retry a 401 ten times; it treats a 403 with this header as final. */
export function sendRefusal(refused: RefusedRequest, { res, admission, cut }: Refused): void {
  if (cut.signal.aborted) return;
  const { type, message, headers } = refused;
  const said = refusalReport(refused, admission);
  const remedy =
    admission.upstream.waitForRenewal === undefined ? said.remedy : `${said.remedy} Then send a message to continue.`;
  admission.session.credentialRejected({ ...said, remedy });
  if (res.headersSent) endWithError(res, { type, message });
  else sendError(res, { status: 403, type, message, headers: [...headers, ...DO_NOT_RETRY] });
}

function refusalReport({ status, message }: RefusedRequest, { upstream: { remedy = "" }, expiry }: AdmittedSession) {
  return { status, message: sentence(message), remedy, isExpired: expiry.isExpired({ status, message }) };
}
