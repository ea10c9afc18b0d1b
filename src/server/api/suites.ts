import { listOf } from "../../protocol/api/common.ts";
import type { SuiteRun } from "../../core/suite/suite-run.ts";
import { deletedSuiteRun, suiteRunQuery, suiteRunToWire, suiteToWire } from "../../protocol/api/suites.ts";
import { notFound } from "../http/lookup.ts";
import { suite, suiteRunSummary, wholeSuiteRun } from "./document/components.ts";
import { type ApiDeps, offered, type SuitePort } from "./deps.ts";
import { type Api, endpoint } from "./endpoint.ts";

const tag = "Suites";
const common = { method: "get", role: "viewer", tag } as const;

/** What came of tests of agents in the caller's project. Runs are made with `capstan test`, and read and deleted here. */
export function addSuites(api: Api, deps: ApiDeps): void {
  const port = (): SuitePort => offered(deps.suites, "suites");
  const find = async (project: string, id: string): Promise<SuiteRun> => {
    const found = await port().runs.get(project, id);
    if (found === undefined) throw notFound("run", id);
    return found;
  };

  endpoint(
    api,
    {
      ...common,
      path: "/api/suites",
      summary: "List suites",
      description: "Those that were run, by name, each with its last run.",
      answer: listOf(suite),
    },
    async ({ caller }) => ({ data: (await port().runs.suites(caller.project)).map(suiteToWire) }),
  );

  endpoint(
    api,
    {
      ...common,
      path: "/api/suites/runs",
      summary: "List runs of suites",
      description: "Newest first. The last 200 runs of each suite are kept.",
      query: suiteRunQuery,
      answer: listOf(suiteRunSummary),
    },
    async ({ caller, query }) => ({ data: (await port().runs.list(caller.project, query)).map(suiteRunToWire) }),
  );

  endpoint(
    api,
    {
      ...common,
      path: "/api/suites/runs/{id}",
      summary: "Get a run of suites",
      description:
        "All of it, with every trial's transcript. Names are those of `capstan test --report json`, not in snake case: it can be saved, and given to `--baseline`.",
      answer: wholeSuiteRun,
    },
    async ({ caller, params: { id } }) => find(caller.project, id),
  );

  endpoint(
    api,
    {
      method: "delete",
      path: "/api/suites/runs/{id}",
      role: "admin",
      tag,
      summary: "Delete a run of suites",
      description: "With all that was said in it. A suite that has no other run is not listed any more.",
      answer: deletedSuiteRun,
    },
    async ({ caller, params: { id } }) => {
      if (!(await port().runs.delete(caller.project, id))) throw notFound("run", id);
      return { id, deleted: true as const };
    },
  );

  endpoint(
    api,
    {
      ...common,
      path: "/api/suites/runs/{id}/report.html",
      summary: "Get the report of a run as a page",
      description: "The same file as `capstan test --report html` writes: it needs no network and has no script.",
      answer: "text/html",
    },
    async ({ c, caller, params: { id } }) => {
      const { html, policy } = await port().page(await find(caller.project, id));
      c.header("content-security-policy", policy);
      return c.html(html);
    },
  );
}
