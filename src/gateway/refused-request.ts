import { sentence } from "../core/text/text.ts";
import { DO_NOT_RETRY, sendError } from "./answer.ts";
import type { Delivery, RefusedRequest } from "./delivery.ts";
import type { Admission } from "./exchange.ts";
import { endWithError, keepAlive } from "./held-answer.ts";

interface Refused extends Pick<Delivery, "res" | "cut"> {
  readonly admission: Admission;
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
  const patience = upstream.renewed !== undefined && expiry.isExpired(refused) ? expiry.patience() : undefined;
  if (patience === undefined || cut.signal.aborted) return false;
  const mended = await session.credentialExpired({ ...told(refused, admission), until: patience.until });
  using _ = pingMs === undefined ? undefined : keepAlive(res, pingMs);
  try {
    await upstream.renewed?.(AbortSignal.any([cut.signal, AbortSignal.timeout(patience.leftMs)]));
    return true;
  } catch {
    return false;
  } finally {
    await mended();
  }
}

/** The agent would retry a 401 ten times; it treats a 403 with this header as final. */
export function refuse(refused: RefusedRequest, { res, admission, cut }: Refused): void {
  if (cut.signal.aborted) return;
  const { type, message, headers } = refused;
  const said = told(refused, admission);
  const remedy =
    admission.upstream.renewed === undefined ? said.remedy : `${said.remedy} Then send a message to continue.`;
  admission.session.credentialRejected({ ...said, remedy });
  if (res.headersSent) endWithError(res, { type, message });
  else sendError(res, { status: 403, type, message, headers: [...headers, ...DO_NOT_RETRY] });
}

function told({ status, message }: RefusedRequest, { upstream: { remedy = "" }, expiry }: Admission) {
  return { status, message: sentence(message), remedy, isExpired: expiry.isExpired({ status, message }) };
}
