import type { Grant } from "../../core/session/approval.ts";
import { callOf } from "../../core/permission/match-call.ts";
import { coverageOf } from "../../core/permission/coverage.ts";
import type { Decided } from "../../core/permission/replay.ts";
import { parseRule } from "../../core/rules/rule.ts";
import { resolveId } from "../terminal/short-id.ts";
import { openRecords, type Records } from "../target/records.ts";
import { ago, colour, count, shortId, table } from "../terminal/text.ts";
import { escapeHidden, hiddenFreeJson } from "../../words/hidden-text.ts";

const GRANT = { what: "grant", command: "capstan grants list" };

export async function list(flags: { readonly json?: boolean }): Promise<void> {
  await using records = await openRecords();
  const grants = await records.grants();
  if (flags.json === true) return grants.forEach((grant) => print(hiddenFreeJson(grant)));
  if (grants.length === 0) return print("No answer is remembered.");
  const rows = grants.map((grant) => [
    shortId(grant.id),
    where(grant),
    escapeHidden(grant.by),
    ago(Date.now() - grant.createdAt),
    grant.lastUsedAt === null ? "never" : ago(Date.now() - grant.lastUsedAt),
    count(grant.uses),
    escapeHidden(grant.rule),
  ]);
  // The rule stands last, where a narrow screen cuts; it is what a reader looks for, so more of it is always shown.
  print(table(["GRANT", "HOLDS", "BY", "GIVEN", "USED", "USES", "RULE"], rows, { atLeast: 30 }));
}

function where({ scope, sessionId, project }: Grant): string {
  if (scope === "always") return "always";
  return scope === "session" ? `session ${shortId(sessionId ?? "?")}` : `project ${nameOf(project ?? "?")}`;
}

/** Projects are directories; the last name tells most. */
function nameOf(project: string): string {
  return project.split("/").at(-1) || project;
}

export async function show(given: string, flags: { readonly json?: boolean }): Promise<void> {
  await using records = await openRecords();
  const grant = resolveId(await records.grants(), given, GRANT);
  const matches = await matchesOf(records, grant);
  if (flags.json === true) return print(hiddenFreeJson({ ...grant, matches }));
  const rows: [string, string][] = [
    ["rule", colour.bold(escapeHidden(grant.rule))],
    ["scope", grant.scope],
    ["holds", holds(grant)],
    [
      "given",
      `by ${escapeHidden(grant.by)} ${new Date(grant.createdAt).toISOString()} (${ago(Date.now() - grant.createdAt)})`,
    ],
    ["approval", shortId(grant.approvalId)],
    [
      "used",
      grant.lastUsedAt === null ? "never" : `${count(grant.uses)} times, last ${ago(Date.now() - grant.lastUsedAt)}`,
    ],
  ];
  print(`${grant.id}\n${rows.map(([name, text]) => `  ${colour.dim(name.padEnd(10))}${text}`).join("\n")}\n`);
  if (matches.length === 0) print("It would allow none of the calls recorded so far.");
  else {
    const shown = matches.slice(0, SHOWN);
    const rest = matches.length > shown.length ? `, the last ${shown.length} of them` : "";
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
/** Sessions that are looked at, last active first: a log of years need not be read to know a rule. */
const RECENT = 200;

function holds({ scope, sessionId, project }: Grant): string {
  if (scope === "always") return "in every session";
  return scope === "session" ? `in the session ${sessionId ?? "?"}` : `in the project ${project ?? "?"}`;
}

interface Match {
  readonly session_id: string;
  readonly at: string;
  readonly tool: string;
  readonly about: string;
  readonly decision: Decided["decision"];
  /** It was this grant that allowed the call. */
  readonly used: boolean;
}

/** Recorded calls that the grant alone would allow, where it holds; the last one first. */
async function matchesOf(records: Records, grant: Grant): Promise<readonly Match[]> {
  const rule = parseRule(grant.rule);
  const allowances = { rules: [], grants: [{ id: grant.id, rule }] };
  const sessions = await records.sessions({
    limit: RECENT,
    ...(grant.project !== null && { project: grant.project }),
  });
  const matches: Match[] = [];
  for (const { id } of sessions) {
    if (grant.sessionId !== null && grant.sessionId !== id) continue;
    for (const event of await records.read(id, { types: ["capstan.permission_decided"] })) {
      if (event.type !== "capstan.permission_decided" || event.subject === undefined) continue;
      const used = event.decided_by === `grant:${grant.id}`;
      if (!used && coverageOf(callOf(event.subject), allowances, () => false) === undefined) continue;
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

export async function revoke(ids: readonly string[]): Promise<void> {
  await using records = await openRecords();
  const grants = await records.grants();
  // All names are looked up first, so that a mistake in one revokes nothing.
  const chosen = ids.map((given) => resolveId(grants, given, GRANT));
  for (const { id, rule } of chosen) {
    await records.revoke(id);
    print(`Revoked ${shortId(id)}: ${escapeHidden(rule)} is asked about again.`);
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
