import { dataList } from "../../protocol/api/common.ts";
import type { SuiteRun } from "../../core/suite/suite-run.ts";
import { deletedSuiteRun, suiteRunQuery, suiteRunToWire, suiteToWire } from "../../protocol/api/suites.ts";
import { notFound } from "../http/lookup.ts";
import { suiteComponent, suiteRunSummaryComponent, suiteRunComponent } from "./document/components.ts";
import { type ApiDeps, requirePort, type SuitePort } from "./deps.ts";
import { type Api, endpoint } from "./endpoint.ts";

const tag = "Suites";
const common = { method: "get", role: "viewer", tag } as const;

/** Test results of the caller's project. `capstan test` creates runs; these endpoints read and delete them. */
export function addSuites(api: Api, deps: ApiDeps): void {
  const port = (): SuitePort => requirePort(deps.suites, "suites");
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
      description: "The suites that have runs, by name, each with its last run.",
      answer: dataList(suiteComponent),
    },
    async ({ caller }) => ({ data: (await port().runs.suites(caller.project)).map(suiteToWire) }),
  );

  endpoint(
    api,
    {
      ...common,
      path: "/api/suites/runs",
      summary: "List suite runs",
      description: "Newest first. Capstan keeps the last 200 runs of each suite.",
      query: suiteRunQuery,
      answer: dataList(suiteRunSummaryComponent),
    },
    async ({ caller, query }) => ({ data: (await port().runs.list(caller.project, query)).map(suiteRunToWire) }),
  );

  endpoint(
    api,
    {
      ...common,
      path: "/api/suites/runs/{id}",
      summary: "Get a suite run",
      description:
        "The complete run, with every trial's transcript. Names are those of `capstan test --report json`, not snake case, so that you can save it and pass it to `--baseline`.",
      answer: suiteRunComponent,
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
      summary: "Delete a suite run",
      description: "Includes the transcripts. A suite without runs is no longer listed.",
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
      summary: "Get a suite run's report as a page",
      description: "The same file that `capstan test --report html` writes: it needs no network and has no scripts.",
      answer: "text/html",
    },
    async ({ c, caller, params: { id } }) => {
      const { html, policy } = await port().page(await find(caller.project, id));
      c.header("content-security-policy", policy);
      return c.html(html);
    },
  );
}
