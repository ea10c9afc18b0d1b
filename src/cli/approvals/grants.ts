import type { Grant } from "../../core/session/approval.ts";
import { prepareCall } from "../../core/permission/match-call.ts";
import { coverageOf } from "../../core/permission/coverage.ts";
import type { Decided } from "../../core/permission/replay.ts";
import { parseRule } from "../../core/rules/rule.ts";
import { resolveId } from "../terminal/short-id.ts";
import { openRecords, type Records } from "../target/records.ts";
import { ago, color, count, shortId, table } from "../terminal/text.ts";
import { escapeHidden, hiddenFreeJson } from "../../words/hidden-text.ts";

const GRANT = { what: "grant", command: "capstan grants list" };

export async function listGrants(flags: { readonly json?: boolean }): Promise<void> {
  await using records = await openRecords();
  const grants = await records.grants();
  if (flags.json === true) return grants.forEach((grant) => print(hiddenFreeJson(grant)));
  if (grants.length === 0) return print("No remembered answers.");
  const rows = grants.map((grant) => [
    shortId(grant.id),
    where(grant),
    escapeHidden(grant.by),
    ago(Date.now() - grant.createdAt),
    grant.lastUsedAt === null ? "never" : ago(Date.now() - grant.lastUsedAt),
    count(grant.uses),
    escapeHidden(grant.rule),
  ]);
  // The rule matters most, so more of it stays visible on a narrow screen.
  print(table(["GRANT", "SCOPE", "BY", "CREATED", "USED", "USES", "RULE"], rows, { atLeast: 30 }));
}

function where({ scope, sessionId, project }: Grant): string {
  if (scope === "always") return "always";
  return scope === "session" ? `session ${shortId(sessionId ?? "?")}` : `project ${nameOf(project ?? "?")}`;
}

/** Projects are directories; the last name is the most specific. */
function nameOf(project: string): string {
  return project.split("/").at(-1) || project;
}

export async function showGrant(given: string, flags: { readonly json?: boolean }): Promise<void> {
  await using records = await openRecords();
  const grant = resolveId(await records.grants(), given, GRANT);
  const matches = await matchesOf(records, grant);
  if (flags.json === true) return print(hiddenFreeJson({ ...grant, matches }));
  const rows: [string, string][] = [
    ["rule", color.bold(escapeHidden(grant.rule))],
    ["scope", grant.scope],
    ["applies to", appliesTo(grant)],
    [
      "created",
      `by ${escapeHidden(grant.by)} ${new Date(grant.createdAt).toISOString()} (${ago(Date.now() - grant.createdAt)})`,
    ],
    ["approval", shortId(grant.approvalId)],
    [
      "used",
      grant.lastUsedAt === null ? "never" : `${count(grant.uses)} times, last ${ago(Date.now() - grant.lastUsedAt)}`,
    ],
  ];
  print(`${grant.id}\n${rows.map(([name, text]) => `  ${color.dim(name.padEnd(12))}${text}`).join("\n")}\n`);
  if (matches.length === 0) print("Of the recorded calls, it would allow none.");
  else {
    const shown = matches.slice(0, SHOWN);
    const rest = matches.length > shown.length ? `; the last ${shown.length}` : "";
    print(
      `It would allow ${matches.length === 1 ? "1 recorded call" : `${count(matches.length)} recorded calls`}${rest}:`,
    );
    print(
      table(
        ["SESSION", "WHEN", "DECISION", "CALL"],
        shown.map((match) => [
          shortId(match.session_id),
          ago(Date.now() - Date.parse(match.at)),
          match.used ? "by this grant" : match.decision,
          `${match.tool} ${match.about}`,
        ]),
      ),
    );
  }
  print(`\nRevoke it: capstan grants revoke ${shortId(grant.id)}`);
}

const SHOWN = 20;
/** How many of the most recently active sessions to search. */
const MAX_SEARCHED = 200;

function appliesTo({ scope, sessionId, project }: Grant): string {
  if (scope === "always") return "every session";
  return scope === "session" ? `session ${sessionId ?? "?"}` : `project ${project ?? "?"}`;
}

interface Match {
  readonly session_id: string;
  readonly at: string;
  readonly tool: string;
  readonly about: string;
  readonly decision: Decided["decision"];
  /** Whether this grant allowed the call. */
  readonly used: boolean;
}

/** Recorded calls in the grant's scope that it would allow by itself, newest first. */
async function matchesOf(records: Records, grant: Grant): Promise<readonly Match[]> {
  const rule = parseRule(grant.rule);
  const allowances = { rules: [], grants: [{ id: grant.id, rule }] };
  const sessions = await records.sessions({
    limit: MAX_SEARCHED,
    ...(grant.project !== null && { project: grant.project }),
  });
  const matches: Match[] = [];
  for (const { id } of sessions) {
    if (grant.sessionId !== null && grant.sessionId !== id) continue;
    for (const event of await records.read(id, { types: ["capstan.permission_decided"] })) {
      if (event.type !== "capstan.permission_decided" || event.subject === undefined) continue;
      const used = event.decided_by === `grant:${grant.id}`;
      if (!used && coverageOf(prepareCall(event.subject), allowances, () => false) === undefined) continue;
      const { processed_at: at, tool, decision } = event;
      matches.push({ session_id: id, at, tool, about: aboutOf(event.subject), decision, used });
    }
  }
  return matches.toSorted((a, b) => b.at.localeCompare(a.at));
}

function aboutOf({ shell, paths, domain, subagent }: NonNullable<Decided["subject"]>): string {
  const commands = shell?.commands.filter(({ via }) => via.length === 0) ?? [];
  const said = commands.map(({ words }) => words.map(({ text }) => text).join(" "));
  return escapeHidden(
    [...said, ...paths.map(({ named }) => named), domain ?? "", subagent ?? ""].filter(Boolean).join("; "),
  );
}

export async function revokeGrants(ids: readonly string[]): Promise<void> {
  await using records = await openRecords();
  const grants = await records.grants();
  // Resolves all ids first, so that a mistake in one revokes nothing.
  const chosen = ids.map((given) => resolveId(grants, given, GRANT));
  for (const { id, rule } of chosen) {
    await records.revoke(id);
    print(`Grant ${shortId(id)} revoked: ${escapeHidden(rule)} needs approval again.`);
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
