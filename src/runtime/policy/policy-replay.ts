import type { AgentDefinition, Mode, Permissions } from "../../core/agent/agent-definition.ts";
import type { LoggedEvent } from "../../core/events/events.ts";
import { type Decided, type Replayed, replayDecision } from "../../core/permission/replay.ts";
import { compileRules, type RuleSet } from "../../core/permission/rule-set.ts";
import { policyRules } from "../../core/permission/server-policy.ts";
import type { EventRange, SessionQuery, SessionSummary } from "../../core/ports/store.ts";
import type { PolicyHost } from "./policy-check.ts";

/** Provides recorded decisions. */
export interface DecisionSource {
  sessions(query?: SessionQuery): Promise<readonly SessionSummary[]>;
  read(sessionId: string, range?: EventRange): Promise<readonly LoggedEvent[]>;
}

export interface ReplayRequest {
  /** Default mode: the one that each decision was made in. */
  readonly permissions: Partial<Pick<Permissions, "allow" | "ask" | "deny">> & { readonly mode?: Mode | undefined };
  /** Only decisions of this session, or of this project. */
  readonly session?: string | undefined;
  readonly project?: string | undefined;
  /** Milliseconds since the epoch. */
  readonly since?: number;
}

export interface ReplayLine {
  readonly session_id: string;
  readonly event_id: string;
  readonly at: string;
  readonly tool: string;
  /** A one-line description of the call. */
  readonly about: string;
  readonly before: Replayed["before"];
  readonly now: Replayed["now"];
  readonly changed: boolean;
  readonly decided_by_before: string;
  readonly decided_by: string;
  readonly reason: string;
}

export interface Replay {
  readonly lines: readonly ReplayLine[];
  /** Decisions that cannot be replayed. */
  readonly skipped: number;
}

/** Replays recorded decisions against different rules. Runs nothing and reads no files. */
export async function replayRules(
  source: DecisionSource,
  { requireKnownTools }: Pick<PolicyHost, "requireKnownTools">,
  { permissions, session, project, since = 0 }: ReplayRequest,
): Promise<Replay> {
  const { mode, allow = [], ask = [], deny = [] } = permissions;
  // The agent's rules for its MCP tools stay in force next to the rules under test.
  const rulesFor = (agent: AgentDefinition): RuleSet =>
    compileRules({ allow, ask, deny }, policyRules(agent.mcp_servers));
  const lines: ReplayLine[] = [];
  const tools = new Set<string>();
  let skipped = 0;
  for (const { id, agent } of await sessionsIn(source, { session, project, since })) {
    const rules = rulesFor(agent);
    for await (const event of decisionsOf(source, id, since)) {
      tools.add(event.tool);
      const replayed = replayDecision(event, rules, mode);
      if (replayed === undefined) skipped++;
      else lines.push(lineOf(id, event, replayed));
    }
  }
  // Every tool that was called is known; other names that are not built in are typos.
  const known = [...tools].map((name) => ({ name }));
  requireKnownTools({ agent: { permissions: { mode: mode ?? "normal", allow, ask, deny } }, tools: known });
  return { lines, skipped };
}

const PAGE = 500;

async function sessionsIn(
  source: DecisionSource,
  { session, project, since }: { session: string | undefined; project: string | undefined; since: number },
): Promise<readonly SessionSummary[]> {
  const sessions = await source.sessions(project === undefined ? {} : { project });
  return sessions.filter(({ id, lastActivityAt }) =>
    session === undefined ? lastActivityAt >= since : id === session,
  );
}

async function* decisionsOf(source: DecisionSource, sessionId: string, since: number): AsyncGenerator<Decided> {
  for (let after = 0, page = await source.read(sessionId, { limit: PAGE }); page.length > 0;) {
    for (const event of page) {
      after = event.seq;
      if (event.type === "capstan.permission_decided" && Date.parse(event.processed_at) >= since) yield event;
    }
    page = await source.read(sessionId, { after, limit: PAGE });
  }
}

function lineOf(sessionId: string, event: Decided, { before, now, verdict }: Replayed): ReplayLine {
  return {
    session_id: sessionId,
    event_id: event.id,
    at: event.processed_at,
    tool: event.tool,
    about: aboutOf(event),
    before,
    now,
    changed: before !== now,
    decided_by_before: event.decided_by,
    decided_by: verdict.decidedBy,
    reason: verdict.reason,
  };
}

function aboutOf({ subject }: Decided): string {
  if (subject === undefined) return "";
  // The wrapper's own words already include the command it runs.
  const commands = subject.shell?.commands.filter(({ via }) => via.length === 0) ?? [];
  const said = commands.map(({ words }) => words.map(({ text }) => text).join(" "));
  const named = subject.paths.map(({ named: path }) => path);
  return [...said, ...named, subject.domain ?? "", subject.subagent ?? "", subject.skill ?? ""]
    .filter((part) => part !== "")
    .join("; ");
}
