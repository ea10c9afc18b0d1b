import { z } from "zod";
import { limitStandings, type ScopeLimits, type Standing } from "../../core/money/budget-scopes.ts";
import { budgets, ledger, ledgerLineToWire, ledgerQuery, type WireBudgetLine } from "../../protocol/api/ledger.ts";
import { sharedScopes } from "../../runtime/engine/budgets.ts";
import { budgetLine, ledgerLine } from "./document/components.ts";
import { type ApiDeps, offered } from "./deps.ts";
import { type Api, endpoint } from "./endpoint.ts";

const tag = "Budgets and ledger";

export function addLedger(api: Api, deps: ApiDeps): void {
  endpoint(
    api,
    {
      method: "get",
      path: "/api/ledger",
      role: "viewer",
      tag,
      summary: "What was spent",
      description:
        "In this project, by day, agent, model, session, thread or tool, and with `split` each line divided once more. Lines of different `billing` are never to be added up: what a subscription covers and what the scripted model did is no money spent.",
      query: ledgerQuery,
      answer: ledger.extend({ data: z.array(ledgerLine) }),
    },
    async ({ caller, query: { by, split, since, time_zone } }) => {
      const timeZone = time_zone ?? deps.budgets?.day?.time_zone ?? "UTC";
      const lines = await offered(deps.ledger, "the ledger").lines({
        by,
        ...(split !== undefined && { split }),
        project: caller.project,
        timeZone,
        ...(since !== undefined && { since: Date.parse(since) }),
      });
      return { by, split: split ?? null, time_zone: timeZone, data: lines.map(ledgerLineToWire) };
    },
  );

  endpoint(
    api,
    {
      method: "get",
      path: "/api/budgets",
      role: "viewer",
      tag,
      summary: "The limits in force",
      description:
        "Those of the host's settings, for each project, day and agent, and how they stand in this project now. A session's own are in its state.",
      answer: budgets.extend({ lines: z.array(budgetLine) }),
    },
    async ({ caller: { project } }) => {
      const settings = offered(deps.budgets, "budgets");
      const projects = deps.countedWith?.(project) ?? [project];
      const scopes = sharedScopes(settings, Object.keys(settings.agents ?? {}), deps.clock.now()).map((scope) => ({
        ...scope,
        projects,
      }));
      const standings = scopes.length === 0 ? [] : await offered(deps.ledger, "the ledger").standings(project, scopes);
      return { settings, lines: standings.flatMap((one) => linesOf(project, one)) };
    },
  );
}

function linesOf(project: string, scope: ScopeLimits & { readonly standing: Standing }): WireBudgetLine[] {
  const { scope: kind, agent, day } = scope;
  // A session's own limits are no limits of its project.
  if (kind === "session") return [];
  return limitStandings(scope).map((one) => ({
    scope: kind,
    name: agent ?? project,
    ...one,
    ...(day !== undefined && { day: day.date }),
  }));
}
