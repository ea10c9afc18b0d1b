import { z } from "zod";
import type { Grant } from "../../core/session/approval.ts";
import { isoTime, isoTimeOrNull, msOf, msOrNull, timestamp } from "./common.ts";

export const grant = z.object({
  id: z.string(),
  rule: z.string(),
  scope: z.enum(["session", "project", "always"]),
  session_id: z.string().nullable().describe("For scope `session`: the session it applies to."),
  project: z.string().nullable().describe("For scope `project`: the project it applies to."),
  approval_id: z.string(),
  by: z.string(),
  created_at: timestamp,
  last_used_at: timestamp.nullable(),
  uses: z.number(),
  may_revoke: z.boolean().describe("Whether the caller may revoke it: the person who gave the answer, and admins."),
});
export type WireGrant = z.infer<typeof grant>;

export const revoked = z.object({ id: z.string(), revoked: z.literal(true) });

export function grantToWire(given: Grant, mayRevoke: boolean): WireGrant {
  const { id, rule, scope, sessionId, project, approvalId, by, createdAt, lastUsedAt, uses } = given;
  return {
    id,
    rule,
    scope,
    session_id: sessionId,
    project,
    approval_id: approvalId,
    by,
    created_at: isoTime(createdAt),
    last_used_at: isoTimeOrNull(lastUsedAt),
    uses,
    may_revoke: mayRevoke,
  };
}

export function grantFromWire(given: WireGrant): Grant {
  const { id, rule, scope, session_id, project, approval_id, by, created_at, last_used_at, uses } = given;
  return {
    id,
    rule,
    scope,
    sessionId: session_id,
    project,
    approvalId: approval_id,
    by,
    createdAt: msOf(created_at),
    lastUsedAt: msOrNull(last_used_at),
    uses,
  };
}
