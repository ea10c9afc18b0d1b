import { z } from "zod";
import { budgets, ledger, ledgerLineToWire, ledgerQuery } from "../../protocol/api/ledger.ts";
import { ledgerLine } from "./components.ts";
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
        "In this project, by day, agent, model, session, thread or tool. Lines of different `billing` are never to be added up: what a subscription covers and what the scripted model did is no money spent.",
      query: ledgerQuery,
      answer: ledger.extend({ data: z.array(ledgerLine) }),
    },
    async ({ caller, query: { by, since, time_zone } }) => {
      const timeZone = time_zone ?? deps.budgets?.day?.time_zone ?? "UTC";
      const lines = await offered(deps.ledger, "the ledger").lines({
        by,
        project: caller.project,
        timeZone,
        ...(since !== undefined && { since: Date.parse(since) }),
      });
      return { by, time_zone: timeZone, data: lines.map(ledgerLineToWire) };
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
      description: "Those of the host's settings, for each project, day and agent. A session's own are in its state.",
      answer: budgets,
    },
    async () => ({ settings: offered(deps.budgets, "budgets") }),
  );
}
