import { Hono } from "hono";
import type { Clock } from "../../core/ports/clock.ts";
import type { LedgerLine } from "../../core/money/ledger.ts";
import type { HostLoad } from "../../runtime/runtime.ts";
import { type Caller, type Env, requireRole } from "../http/context.ts";
import { CONTENT_TYPE, type Metric, metricsText, type Sample } from "./metrics-text.ts";
import type { RequestCounts } from "../http/middleware.ts";
import type { WaitingAnswers } from "../answers/waiting.ts";
import type { Streams } from "../stream/streams.ts";
import type { TurnMetrics } from "./turn-metrics.ts";

/** Metrics from outside the server. Absent ones are left out. */
export interface RuntimeMetrics {
  /** For a project, or for all: the number of sessions by status. */
  readonly sessionsByStatus?: (project: string | undefined) => Promise<Readonly<Record<string, number>>>;
  /**
   * For a project, or for all: the number of pending approvals, and since when the oldest has waited, in milliseconds
   * since the epoch.
   */
  readonly waitingApprovals?: (
    project: string | undefined,
  ) => Promise<{ readonly count: number; readonly oldestAt: number | null }>;
  /** For a project, or for all, by model. */
  readonly readSpending?: (project: string | undefined) => Promise<readonly LedgerLine[]>;
  readonly load?: () => HostLoad;
  readonly turns?: TurnMetrics;
}

interface MetricsDeps {
  readonly runtime: RuntimeMetrics;
  readonly counts: RequestCounts;
  readonly streams: Streams;
  readonly answers: WaitingAnswers;
  readonly clock: Clock;
}

/** Prometheus metrics: for the caller's project where they belong to one; for all projects if no key is needed. */
export function metricsRoutes(deps: MetricsDeps): Hono<Env> {
  const routes = new Hono<Env>();
  routes.get("/metrics", async (c) => {
    const caller = c.get("caller") as Caller | undefined;
    if (caller !== undefined) requireRole(c, "viewer");
    const metrics = [...(await storedMetrics(deps, caller?.project)), ...hostMetrics(deps), ...serverMetrics(deps)];
    return c.body(metricsText(metrics), 200, { "content-type": CONTENT_TYPE });
  });
  return routes;
}

async function storedMetrics({ runtime, clock }: MetricsDeps, project: string | undefined): Promise<Metric[]> {
  const [sessions, approvals, spent] = await Promise.all([
    runtime.sessionsByStatus?.(project),
    runtime.waitingApprovals?.(project),
    runtime.readSpending?.(project),
  ]);
  const metrics: Metric[] = [];
  if (sessions !== undefined)
    metrics.push({
      name: "capstan_sessions",
      help: "Sessions by status.",
      type: "gauge",
      samples: Object.entries(sessions).map(([status, value]) => ({ labels: { status }, value })),
    });
  if (approvals !== undefined)
    metrics.push(
      gauge("capstan_approvals_waiting", "Approvals waiting for an answer.", approvals.count),
      gauge(
        "capstan_approvals_oldest_seconds",
        "How long the oldest approval has waited; 0 if none is waiting.",
        approvals.oldestAt === null ? 0 : Math.max(0, clock.now() - approvals.oldestAt) / 1_000,
      ),
    );
  if (spent !== undefined) metrics.push(...spentMetrics(spent));
  return metrics;
}

const TOKENS = {
  input: "inputTokens",
  output: "outputTokens",
  cache_read: "cacheReadTokens",
  cache_write: "cacheWriteTokens",
} as const satisfies Record<string, keyof LedgerLine>;

function spentMetrics(lines: readonly LedgerLine[]): Metric[] {
  const each = (value: (line: LedgerLine) => number): Sample[] =>
    lines.map((line) => ({ labels: labels(line), value: value(line) }));
  return [
    {
      name: "capstan_model_requests_total",
      help: "Model requests in the ledger.",
      type: "counter",
      samples: each(({ requests }) => requests),
    },
    {
      name: "capstan_tokens_total",
      help: "Tokens in the ledger.",
      type: "counter",
      samples: lines.flatMap((line) =>
        Object.entries(TOKENS).map(([kind, field]) => ({ labels: { ...labels(line), kind }, value: line[field] })),
      ),
    },
    {
      name: "capstan_cost_usd_total",
      help: "List price of the requests that have one.",
      type: "counter",
      samples: each(({ usd }) => usd),
    },
  ];
}

function labels({ key, billing }: LedgerLine): Readonly<Record<string, string>> {
  return { model: key, billing };
}

function hostMetrics({ runtime }: MetricsDeps): Metric[] {
  const load = runtime.load?.();
  const ofLoad =
    load === undefined
      ? []
      : [
          gauge("capstan_driven_sessions", "Sessions driven by this process.", load.sessions),
          gauge("capstan_turns_running", "Turns in progress.", load.turns),
          gauge("capstan_turns_waiting", "Turns waiting for a slot.", load.waitingTurns),
          gauge("capstan_agent_processes", "Agent processes.", load.processes),
          gauge("capstan_agent_processes_idle", "Agent processes waiting for a message.", load.idleProcesses),
          gauge("capstan_agent_process_bytes", "Memory used by all agent processes.", load.processBytes),
        ];
  return [...ofLoad, ...(runtime.turns?.metrics() ?? [])];
}

function serverMetrics({ counts, streams, answers }: MetricsDeps): Metric[] {
  return [
    {
      name: "capstan_http_requests_total",
      help: "Requests by method and status.",
      type: "counter",
      samples: counts.all().map(({ method, status, count }) => ({ labels: { method, status }, value: count })),
    },
    gauge("capstan_streams_open", "Open event streams and sockets.", streams.open),
    {
      name: "capstan_streams_cut_total",
      help: "Streams closed because the client did not read them.",
      type: "counter",
      samples: [{ value: streams.cut }],
    },
    gauge("capstan_answers_waiting_bytes", "Responses in memory that clients have not read yet.", answers.overall),
    {
      name: "capstan_answers_closed_total",
      help: "Connections closed because the client did not read the response.",
      type: "counter",
      samples: [{ value: answers.closed }],
    },
    gauge("capstan_process_resident_bytes", "Memory used by this process.", process.memoryUsage.rss()),
    gauge("capstan_process_uptime_seconds", "Uptime of this process.", process.uptime()),
  ];
}

function gauge(name: string, help: string, value: number): Metric {
  return { name, help, type: "gauge", samples: [{ value }] };
}
