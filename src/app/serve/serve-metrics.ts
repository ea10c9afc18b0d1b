import type { Store } from "../../core/ports/store.ts";
import type { Runtime } from "../../runtime/runtime.ts";
import type { RuntimeMetrics } from "../../server/metrics/metrics.ts";
import { TurnMetrics } from "../../server/metrics/turn-metrics.ts";
import { clock } from "../clock.ts";

/** Metrics from the host and the store. */
export function serverMetrics(host: Runtime, store: Store): RuntimeMetrics {
  const turns = new TurnMetrics(clock);
  host.observe((sessionId, item) => turns.observe(sessionId, item));
  return {
    turns,
    load: () => host.load(),
    sessionsByStatus: (project) => store.countSessions(project),
    async waitingApprovals(project) {
      const waiting = (await host.approvals.list({ status: "pending", ...of(project) })).filter(
        ({ expiresAt }) => expiresAt === null || expiresAt > clock.now(),
      );
      return { count: waiting.length, oldestAt: waiting[0]?.createdAt ?? null };
    },
    readSpending: (project) => store.ledger.lines({ by: "model", ...of(project) }),
  };
}

function of(project: string | undefined): { readonly project?: string } {
  return project === undefined ? {} : { project };
}
