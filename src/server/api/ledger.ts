import { z } from "zod";
import { limitStandings, type ScopeLimits, type Standing } from "../../core/money/budget-scopes.ts";
import { budgets, ledger, ledgerLineToWire, ledgerQuery, type WireBudgetLine } from "../../protocol/api/ledger.ts";
import { sharedScopes } from "../../runtime/engine/budgets.ts";
import { budgetLineComponent, ledgerLineComponent } from "./document/components.ts";
import { type ApiDeps, requirePort } from "./deps.ts";
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
      summary: "Get spending",
      description:
        "Spending in this project, by day, agent, model, session, thread or tool; `split` divides each line once more. Do not add up lines with different `billing`: usage covered by a subscription and the scripted model cost no money.",
      query: ledgerQuery,
      answer: ledger.extend({ data: z.array(ledgerLineComponent) }),
    },
    async ({ caller, query: { by, split, since, time_zone } }) => {
      const timeZone = time_zone ?? deps.budgets?.day?.time_zone ?? "UTC";
      const lines = await requirePort(deps.ledger, "the ledger").lines({
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
      summary: "List limits",
      description:
        "The limits in the host's settings for each project, day and agent, and their current use in this project. A session's own limits are in its state.",
      answer: budgets.extend({ lines: z.array(budgetLineComponent) }),
    },
    async ({ caller: { project } }) => {
      const settings = requirePort(deps.budgets, "budgets");
      const projects = deps.countedWith?.(project) ?? [project];
      const scopes = sharedScopes(settings, Object.keys(settings.agents ?? {}), deps.clock.now()).map((scope) => ({
        ...scope,
        projects,
      }));
      const standings =
        scopes.length === 0 ? [] : await requirePort(deps.ledger, "the ledger").standings(project, scopes);
      return { settings, lines: standings.flatMap((one) => linesOf(project, one)) };
    },
  );
}

function linesOf(project: string, scope: ScopeLimits & { readonly standing: Standing }): WireBudgetLine[] {
  const { scope: kind, agent, day } = scope;
  // A session's limits do not apply to its project.
  if (kind === "session") return [];
  return limitStandings(scope).map((one) => ({
    scope: kind,
    name: agent ?? project,
    ...one,
    ...(day !== undefined && { day: day.date }),
  }));
}
