import { z } from "zod";
import { requireKnownTools } from "../app/tool-traits.ts";
import { parseDuration } from "../config/duration.ts";
import { layerPermissions } from "../config/settings.ts";
import { readTextFile } from "../config/text-file.ts";
import { parseYaml } from "../config/yaml-file.ts";
import { type Decided, type Replayed, replayDecision } from "../core/permission/replay.ts";
import { compileRules } from "../core/permission/rule-set.ts";
import type { Store } from "../core/store.ts";
import { userStore } from "./home.ts";
import { resolveSession } from "./session-id.ts";
import { count, shortId, table } from "./text.ts";

export interface ReplayFlags {
  readonly rules: string;
  readonly since?: string;
  readonly session?: string;
  readonly json?: boolean;
}

const rulesFile = z.strictObject({ permissions: layerPermissions });

export async function replay(flags: ReplayFlags): Promise<void> {
  const text = readTextFile(flags.rules, { what: "the rules", code: "invalid_input" });
  const { permissions } = parseYaml(text, { file: flags.rules, code: "invalid_input", schema: rulesFile });
  const { mode, allow = [], ask = [], deny = [] } = permissions;
  const rules = compileRules({ allow, ask, deny });
  const since = flags.since === undefined ? 0 : Date.now() - parseDuration(flags.since);
  await using store = await userStore();
  const session = flags.session === undefined ? undefined : await resolveSession(store, flags.session);
  const lines: ReplayLine[] = [];
  const tools = new Set<string>();
  let skipped = 0;
  for await (const { sessionId, event } of decisionsIn(store, { session, since })) {
    tools.add(event.tool);
    const replayed = replayDecision(event, rules, mode);
    if (replayed === undefined) skipped++;
    else lines.push(lineOf(sessionId, event, replayed));
  }
  // Whatever was called is a tool; any other name that is not the engine's was mistyped.
  const known = [...tools].map((name) => ({ name }));
  requireKnownTools({ agent: { permissions: { mode: mode ?? "normal", allow, ask, deny } }, tools: known });
  if (flags.json === true) return lines.forEach((line) => print(JSON.stringify(line)));
  show(lines, skipped);
}

interface ReplayLine {
  readonly session_id: string;
  readonly event_id: string;
  readonly at: string;
  readonly tool: string;
  /** What the call was about, in one line. */
  readonly about: string;
  readonly before: Replayed["before"];
  readonly now: Replayed["now"];
  readonly changed: boolean;
  readonly decided_by_before: string;
  readonly decided_by: string;
  readonly reason: string;
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
  // What a wrapper runs is part of its own words.
  const commands = subject.shell?.commands.filter(({ via }) => via.length === 0) ?? [];
  const said = commands.map(({ words }) => words.map(({ text }) => text).join(" "));
  const named = subject.paths.map(({ named: path }) => path);
  return [...said, ...named, subject.domain ?? "", subject.subagent ?? ""].filter((part) => part !== "").join("; ");
}

const PAGE = 500;

async function* decisionsIn(
  store: Store,
  { session, since }: { session: string | undefined; since: number },
): AsyncGenerator<{ sessionId: string; event: Decided }> {
  const sessions = (await store.sessions()).filter(({ id, lastActivityAt }) =>
    session === undefined ? lastActivityAt >= since : id === session,
  );
  for (const { id: sessionId } of sessions)
    for (let after = 0, page = await store.events(sessionId, { limit: PAGE }); page.length > 0;) {
      for (const { event, seq } of page) {
        after = seq;
        if (event.type === "capstan.permission_decided" && Date.parse(event.processed_at) >= since)
          yield { sessionId, event };
      }
      page = await store.events(sessionId, { after, limit: PAGE });
    }
}

const OUTCOMES = { allow: "allowed", ask: "asked about", deny: "denied" };

function show(lines: readonly ReplayLine[], skipped: number): void {
  const changed = lines.filter((line) => line.changed);
  for (const [now, becomes] of Object.entries(OUTCOMES)) {
    const group = changed.filter((line) => line.now === now);
    if (group.length === 0) continue;
    print(`${calls(group.length)} would now be ${becomes}:`);
    print(
      table(
        ["SESSION", "BEFORE", "BY", "TOOL", "CALL"],
        group.map((line) => [shortId(line.session_id), OUTCOMES[line.before], line.decided_by, line.tool, line.about]),
      ),
    );
    print("");
  }
  print(`${calls(lines.length - changed.length)} would be decided as before.`);
  if (skipped > 0) print(`${calls(skipped)} cannot be replayed: a limit or an error decided, or an older version.`);
}

function calls(number: number): string {
  return number === 1 ? "1 call" : `${count(number)} calls`;
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
