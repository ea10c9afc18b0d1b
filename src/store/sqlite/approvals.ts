import type {
  Approval,
  ApprovalRequest,
  ApprovalStatus,
  ApprovalStore,
  StoredAnswer,
} from "../../core/session/approval.ts";
import type { Clock } from "../../core/ports/clock.ts";
import { CapstanError } from "../../core/errors.ts";
import type { SessionEvent } from "../../core/events/events.ts";
import type { AppendBatch } from "../../core/ports/store.ts";
import type { Database } from "./file/database.ts";
import { grantTable } from "./grants.ts";

interface ApprovalRow {
  readonly id: string;
  readonly session_id: string;
  readonly project: string;
  readonly agent: string;
  readonly status: ApprovalStatus;
  readonly request: string;
  readonly input: string | null;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly answer: string | null;
}

const SELECT = `
  SELECT approvals.id, session_id, project, agent ->> '$.name' AS agent, approvals.status, request, input,
    approvals.created_at, expires_at, answer
  FROM approvals JOIN sessions ON sessions.id = session_id`;

/** SQLite's value for no limit. */
const ALL = -1;

/**
 * Approvals are separate from the log because the client that answers one does not drive the session and must not write
 * its log. Opening and settling them is derived from the log, in the transaction that appends to it.
 */
export function approvalTable(database: Database, clock: Clock): ApprovalStore {
  const selectOne = database.prepare(`${SELECT} WHERE approvals.id = ?`);
  const selectMany = database.prepare(
    `${SELECT} WHERE (:status IS NULL OR approvals.status = :status) AND (:sessionId IS NULL OR session_id = :sessionId)
       AND (:project IS NULL OR project = :project) ORDER BY approvals.created_at DESC, approvals.id DESC LIMIT :limit`,
  );
  const take = database.prepare("UPDATE approvals SET status = 'answered', answer = ? WHERE id = ?");
  const { add, ...grants } = grantTable(database, clock);

  return {
    async get(approvalId) {
      const row = database.read(() => selectOne.get<ApprovalRow>(approvalId));
      return row && toApproval(row);
    },

    async list({ status, sessionId, project, limit = ALL } = {}) {
      const filters = { status: status ?? null, sessionId: sessionId ?? null, project: project ?? null, limit };
      return database.read(() => selectMany.all<ApprovalRow>(filters).map(toApproval)).toReversed();
    },

    async answer(approvalId, answer, given) {
      database.write(() => {
        const row = selectOne.get<ApprovalRow>(approvalId);
        if (row === undefined) throw unknownApproval(approvalId);
        if (row.status !== "pending") throw closedError(row);
        if (row.expires_at !== null && row.expires_at <= clock.now()) throw expiredError(row);
        take.run(JSON.stringify(answer), approvalId);
        for (const grant of given) add(grant);
      });
    },

    ...grants,
  };
}

/** Updates a session's approvals from its log. Call this in the transaction that saves the event. */
export function approvalProjection(
  database: Database,
): (sessionId: string, event: SessionEvent, unredacted: AppendBatch["unredacted"]) => void {
  const open = database.prepare(
    `INSERT INTO approvals (id, session_id, status, request, input, created_at, expires_at)
     VALUES (?, ?, 'pending', ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  );
  // The log has a custom tool's result and a person's changes to the input with secrets redacted.
  const settle = database.prepare(
    `UPDATE approvals SET status = 'settled', input = NULL, answer = json_remove(answer, '$.result', '$.input')
     WHERE id = ?`,
  );
  return (sessionId, event, unredacted) => {
    if (event.type === "capstan.approval_requested") {
      const { approval_id: id, expires_at: expires } = event;
      const input = unredacted?.[id] === undefined ? null : JSON.stringify(unredacted[id]);
      const expiresAt = expires === null ? null : Date.parse(expires);
      open.run(id, sessionId, JSON.stringify(event), input, Date.parse(event.processed_at), expiresAt);
    } else if (event.type === "capstan.permission_decided" && event.approval_id !== undefined)
      settle.run(event.approval_id);
    else if (event.type === "capstan.elicitation_settled") settle.run(event.approval_id);
  };
}

function toApproval(row: ApprovalRow): Approval {
  const request = JSON.parse(row.request) as ApprovalRequest;
  return {
    id: row.id,
    sessionId: row.session_id,
    project: row.project,
    agent: row.agent,
    status: row.status,
    request: row.input === null ? request : { ...request, input: JSON.parse(row.input) as ApprovalRequest["input"] },
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    answer: row.answer === null ? null : (JSON.parse(row.answer) as StoredAnswer),
  };
}

function unknownApproval(approvalId: string): CapstanError {
  return new CapstanError("not_found", `Approval ${approvalId} does not exist. List the approvals to find its id.`, {
    data: { approvalId },
  });
}

function closedError(row: ApprovalRow): CapstanError {
  const answer = row.answer === null ? null : (JSON.parse(row.answer) as StoredAnswer);
  const text =
    answer === null
      ? `Approval ${row.id} was closed without an answer because its turn ended. There is nothing left to answer.`
      : `Approval ${row.id} was already answered with "${answer.behavior}" by ${answer.by} at ${new Date(answer.at).toISOString()}. The first answer counts.`;
  return new CapstanError("approval_closed", text, { data: { approvalId: row.id, answer } });
}

function expiredError(row: ApprovalRow): CapstanError {
  return new CapstanError(
    "approval_closed",
    `Approval ${row.id} expired at ${new Date(row.expires_at ?? 0).toISOString()} and counts as denied. Ask the agent to try again.`,
    { data: { approvalId: row.id, answer: null } },
  );
}
