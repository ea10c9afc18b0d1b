import type { AuditFinding, AuditRecord, AuditReport } from "../../core/session/audit.ts";
import type { ToolOutputs } from "../../core/tool-output/tool-outputs.ts";

const REMEDY = {
  altered: "Keep the file, compare it with a backup, and find out who can write to Capstan's directory.",
  missing: "Look for it in a backup of Capstan's directory, and find out who can write there.",
  left: "Remove the session's directory in the outputs directory of Capstan's home.",
} as const;

/** Checks the outputs that passing events refer to: the log has the hash of each. */
export class OutputAudit {
  readonly #outputs: ToolOutputs;
  readonly #findings: AuditFinding[] = [];

  constructor(outputs: ToolOutputs) {
    this.#outputs = outputs;
  }

  async *beside(records: AsyncIterable<AuditRecord>): AsyncGenerator<AuditRecord> {
    for await (const record of records) {
      yield record;
      if (record.record === "event") await this.#event(record);
      if (record.record === "session" && record.deleted && (await this.#outputs.size(record.session_id)) > 0)
        this.#findings.push({
          kind: "altered",
          session_id: record.session_id,
          problem: "the session was erased, but its tool outputs still exist",
          remedy: REMEDY.left,
        });
    }
  }

  addTo(report: AuditReport): AuditReport {
    if (this.#findings.length === 0) return report;
    const wrong = new Set(this.#findings.map(({ session_id: id }) => id));
    return {
      ...report,
      sound: false,
      sessions: report.sessions.map((session) =>
        wrong.has(session.session_id) && session.status === "ok" ? { ...session, status: "altered" } : session,
      ),
      findings: [...report.findings, ...this.#findings],
    };
  }

  async #event({ session_id, seq, event }: Extract<AuditRecord, { record: "event" }>): Promise<void> {
    const hash = event.includes('"whole_output"') ? hashIn(event) : undefined;
    if (hash === undefined) return;
    const state = await this.#outputs.check(session_id, hash);
    if (state === "intact") return;
    const problem = `the call's full output ${state === "missing" ? "is missing" : "does not match its hash in the log"} (outputs/${session_id}/${hash})`;
    this.#findings.push({ kind: state, session_id, seq, problem, remedy: REMEDY[state] });
  }
}

/** The chain check finds altered events. */
function hashIn(event: string): string | undefined {
  try {
    const { whole_output: output } = JSON.parse(event) as { whole_output?: { hash?: unknown } };
    return typeof output?.hash === "string" ? output.hash : undefined;
  } catch {
    return undefined;
  }
}
