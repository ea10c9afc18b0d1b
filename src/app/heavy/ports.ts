import type { ApiDeps } from "../../server/api/deps.ts";
import type { WorkerPool } from "./pool.ts";

/** The parts of `/api` that run in separate threads. */
export function heavyPorts(
  pool: WorkerPool,
): Required<Pick<ApiDeps, "archive" | "audit" | "findSessions" | "replayPolicy">> {
  return {
    audit: { verify: (query, asking) => pool.run("verifyLogs", query, asking) },
    findSessions: (query, asking) => pool.run("findSessions", query, asking),
    replayPolicy: (request, asking) => pool.run("replayPolicy", request, asking),
    // Page by page, as the client reads: a slow client does not keep a thread from others.
    async *archive(sessionId, asking) {
      let page = await pool.run("archivePage", { sessionId }, asking);
      for (;;) {
        yield page.bytes;
        if (page.next === undefined) return;
        page = await pool.run("archivePage", { sessionId, from: page.next }, asking);
      }
    },
  };
}
