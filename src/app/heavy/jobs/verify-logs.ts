import type { AuditReport } from "../../../core/session/audit.ts";
import { verifyAudit } from "../../audit/audit.ts";
import { openReader } from "../../open-store.ts";
import type { HeavyContext } from "../jobs.ts";

/**
 * Checks the whole register, and all sessions or one of them; returns what belongs to the project, and what is missing.
 */
export async function verifyLogs(
  place: HeavyContext,
  { project, session }: { readonly project: string; readonly session?: string | undefined },
): Promise<AuditReport> {
  const report = await verifyAudit(place, session === undefined ? {} : { session });
  await using store = openReader(place.home);
  const own = new Set((await store.sessions({ project })).map(({ id }) => id));
  const isShown = (id: string | undefined, kind: string): boolean =>
    id === undefined || own.has(id) || kind === "missing";
  const findings = report.findings
    .filter((finding) =>
      finding.project === undefined ? isShown(finding.session_id, finding.kind) : finding.project === project,
    )
    .map(({ project: _own, ...finding }) => finding);
  return {
    ...report,
    sound: findings.length === 0,
    sessions: report.sessions.filter(({ session_id, status }) => isShown(session_id, status)),
    findings,
  };
}
