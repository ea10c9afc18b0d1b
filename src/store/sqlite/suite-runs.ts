import { MAX_RUNS, type StoredRun, type StoredSuite, type SuiteRunStore } from "../../core/ports/suite-run-store.ts";
import { casesSummary, runSummary } from "../../core/suite/suite-run-summary.ts";
import type { SuiteRun } from "../../core/suite/suite-run.ts";
import type { Database } from "./file/database.ts";
import { emptyWal } from "./file/empty-wal.ts";
import { ERASED } from "./sessions/erase.ts";
import { idTakenError } from "./registry/registry-page.ts";

interface SummaryRow {
  readonly summary: string;
}

const PLACE = "started_at, id";
const THERE = `summary <> '${ERASED}'`;

export function suiteRunTable(database: Database): SuiteRunStore {
  const insert = database.prepare(
    "INSERT INTO suite_runs (id, project, started_at, summary, run) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  // Two files may have suites of the same name: the run contains both, and lists show the first.
  const insertSuite = database.prepare(
    "INSERT INTO suite_run_suites (run_id, suite, project, started_at, result) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const selectOld = database.prepare(
    `SELECT run_id FROM suite_run_suites WHERE project = ? AND suite = ?
      ORDER BY started_at DESC, run_id DESC LIMIT -1 OFFSET ${MAX_RUNS}`,
  );
  const removeSuite = database.prepare("DELETE FROM suite_run_suites WHERE run_id = ? AND suite = ?");
  const removeRun = database.prepare(
    "DELETE FROM suite_runs WHERE id = :id AND NOT EXISTS (SELECT 1 FROM suite_run_suites WHERE run_id = :id)",
  );
  // A tombstone keeps its position, so that a list can continue after a deleted run.
  const bury = database.prepare(
    `UPDATE suite_runs SET summary = '${ERASED}', run = '${ERASED}' WHERE project = ? AND id = ? AND ${THERE}`,
  );
  const removeSuites = database.prepare("DELETE FROM suite_run_suites WHERE run_id = ?");
  const selectOne = database.prepare(`SELECT run FROM suite_runs WHERE project = ? AND id = ? AND ${THERE}`);
  const selectPage = database.prepare(
    `SELECT summary FROM suite_runs WHERE project = :project AND ${THERE}
      AND (:suite IS NULL OR id IN (SELECT run_id FROM suite_run_suites WHERE project = :project AND suite = :suite))
      AND (:after IS NULL OR (${PLACE}) < (SELECT ${PLACE} FROM suite_runs WHERE id = :after AND project = :project))
      ORDER BY started_at DESC, id DESC LIMIT :limit`,
  );
  const selectSuites = database.prepare(
    `SELECT newest.result, suite_runs.summary FROM
        (SELECT suite, run_id, result,
          row_number() OVER (PARTITION BY suite ORDER BY started_at DESC, run_id DESC) AS age
          FROM suite_run_suites WHERE project = ?) AS newest
      JOIN suite_runs ON suite_runs.id = newest.run_id
      WHERE newest.age = 1 ORDER BY newest.suite`,
  );

  return {
    async add(run) {
      const summary = toSummary(run);
      database.write(() => {
        const { id, project } = run;
        const { startedAt } = summary;
        const { changes } = insert.run(id, project, startedAt, JSON.stringify(summary), JSON.stringify(run));
        if (changes === 0) throw idTakenError("a run", id);
        for (const { suite, file, agent, cases } of run.suites) {
          const result = { suite, file, agent, summary: casesSummary(cases) };
          insertSuite.run(id, suite, project, startedAt, JSON.stringify(result));
          for (const old of selectOld.all<{ readonly run_id: string }>(project, suite)) {
            removeSuite.run(old.run_id, suite);
            removeRun.run({ id: old.run_id });
          }
        }
      });
    },

    async get(project, id) {
      const row = database.read(() => selectOne.get<{ readonly run: string }>(project, id));
      return row && (JSON.parse(row.run) as SuiteRun);
    },

    async list(project, { limit, suite, after }) {
      const parameters = { project, suite: suite ?? null, after: after ?? null, limit };
      const rows = database.read(() => selectPage.all<SummaryRow>(parameters));
      return rows.map((row) => JSON.parse(row.summary) as StoredRun);
    },

    async suites(project) {
      const rows = database.read(() =>
        selectSuites.all<
          SummaryRow & {
            readonly result: string;
          }
        >(project),
      );
      return rows.map(({ result, summary }) => ({
        ...(JSON.parse(result) as Omit<StoredSuite, "lastRun">),
        lastRun: JSON.parse(summary) as StoredRun,
      }));
    },

    async delete(project, id) {
      const isDeleted = database.write(() => {
        if (bury.run(project, id).changes === 0) return false;
        removeSuites.run(id);
        return true;
      });
      if (isDeleted) emptyWal(database);
      return isDeleted;
    },
  };
}

function toSummary(run: SuiteRun): StoredRun {
  const { id, mode, exitCode, startedAt } = run;
  return { id, mode, exitCode, startedAt: Date.parse(startedAt), ...runSummary(run) };
}
