import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { FlaskConical } from "lucide-react";
import { Link, useSearchParams } from "wouter";
import type { WireSuite, WireSuiteRunSummary } from "../../../src/client/index.ts";
import { runOutcome } from "../../../src/protocol/api/suite-run-facts.ts";
import { api } from "../api.ts";
import { Button } from "../parts/button.tsx";
import { Code } from "../parts/text/code.tsx";
import { Empty } from "../parts/empty.tsx";
import { Select } from "../parts/form/field.tsx";
import { Ago, When } from "../parts/figures/figures.tsx";
import { Loading } from "../parts/loading.tsx";
import { Page, Section } from "../parts/page.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { Table } from "../parts/table.tsx";
import { Pill } from "../parts/tone.tsx";
import { countsText, isGood, RUN_MODE_WORDS, priceOfWire } from "./run-facts.ts";
import { OutcomePill } from "./status.tsx";
import { count, duration } from "../../../src/words/amounts.ts";

const PAGE = 20;

/** Suites with their last result, and all saved runs. */
export function TestsPage() {
  const [search, setSearch] = useSearchParams();
  const suite = search.get("suite") ?? "";
  const choose = (name: string): void => setSearch(name === "" ? {} : { suite: name });
  const suites = useQuery({ queryKey: ["suites"], queryFn: () => api.suites.list(), refetchInterval: 30_000 });
  return (
    <Page title="Tests" about="Results of your agent test suites.">
      {suites.error !== null && (
        <Problem thrown={suites.error} title="Could not load the suites" onRetry={() => void suites.refetch()} />
      )}
      {suites.data === undefined && suites.error === null && <Loading />}
      {suites.data?.length === 0 && (
        <Empty icon={<FlaskConical />} title="No test runs in this project yet">
          <p>
            A suite is a list of test cases for an agent. Every run of <code>capstan test</code> is saved and shown
            here, with the transcript and changes of each trial.
          </p>
          <Code
            className="mt-3 rounded-md border border-line bg-surface p-3 text-left"
            text={"capstan init helper --yes\ncd helper\ncapstan test --rehearsal"}
          />
        </Empty>
      )}
      {suites.data !== undefined && suites.data.length > 0 && (
        <>
          <Section title="Suites">
            <Suites suites={suites.data} onChoose={choose} />
          </Section>
          <Section
            title="Runs"
            actions={
              <div className="flex items-center gap-2 text-sm text-muted">
                <label htmlFor="runs-suite">Suite</label>
                <div className="w-48">
                  <Select id="runs-suite" value={suite} onChange={(event) => choose(event.target.value)}>
                    <option value="">all</option>
                    {suites.data.map(({ suite: name }) => (
                      <option key={name}>{name}</option>
                    ))}
                    {suite !== "" && !suites.data.some((one) => one.suite === suite) && <option>{suite}</option>}
                  </Select>
                </div>
              </div>
            }
          >
            <Runs suite={suite} />
          </Section>
        </>
      )}
    </Page>
  );
}

function Suites({
  suites,
  onChoose,
}: {
  readonly suites: readonly WireSuite[];
  readonly onChoose: (suite: string) => void;
}) {
  return (
    <Table
      caption="Suites"
      rows={suites}
      rowKey={({ suite }) => suite}
      columns={[
        {
          title: "Suite",
          flexible: true,
          cell: ({ suite, file, agent }) => (
            <div className="max-w-72 min-w-32">
              <button
                type="button"
                dir="auto"
                title={`Show the runs of ${suite}`}
                className="block max-w-full truncate text-left font-medium hover:text-accent hover:underline"
                onClick={() => onChoose(suite)}
              >
                {suite}
              </button>
              <p className="truncate text-xs text-faint" title={file}>
                {file} · agent <bdi>{agent}</bdi>
              </p>
            </div>
          ),
        },
        {
          title: "Last run",
          cell: ({ counts, last_run }) => (
            <div className="flex flex-wrap items-center gap-1.5">
              <OutcomePill good={isGood(counts)}>{isGood(counts) ? "passed" : "failed"}</OutcomePill>
              {isGood(counts) && last_run.exit_code !== 0 && <Pill tone="waiting">the run failed</Pill>}
            </div>
          ),
        },
        { title: "Cases", minor: true, cell: ({ counts }) => countsText(counts) },
        { title: "Cost", figure: true, minor: true, cell: priceOfWire },
        {
          title: "When",
          cell: ({ last_run }) => (
            <Link href={`/tests/${last_run.id}`} className="text-accent hover:underline sm:whitespace-nowrap">
              <Ago at={last_run.started_at} />
            </Link>
          ),
        },
      ]}
    />
  );
}

function Runs({ suite }: { readonly suite: string }) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ["suite-runs", suite],
    initialPageParam: "",
    queryFn: ({ pageParam }) =>
      api.suites.runs({
        limit: PAGE,
        ...(suite !== "" && { suite }),
        ...(pageParam !== "" && { after: pageParam }),
      }),
    getNextPageParam: (last) => (last.length < PAGE ? undefined : last.at(-1)?.id),
    refetchInterval: 30_000,
  });
  if (error !== null) return <Problem thrown={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  return (
    <>
      <Table
        caption={suite === "" ? "Runs, newest first" : `Runs of ${suite}, newest first`}
        rows={data.pages.flat()}
        rowKey={({ id }) => id}
        empty="No saved runs of this suite."
        columns={[
          {
            title: "Run",
            flexible: true,
            cell: (run) => (
              <div className="flex flex-col items-start gap-0.5">
                <Link
                  href={`/tests/${run.id}`}
                  className="font-medium hover:text-accent hover:underline sm:whitespace-nowrap"
                >
                  <When at={run.started_at} />
                </Link>
                <span
                  dir="auto"
                  className="block max-w-full truncate text-xs text-faint sm:max-w-56"
                  title={run.suites.join(", ")}
                >
                  {run.suites.join(", ")}
                </span>
              </div>
            ),
          },
          { title: "Result", cell: (run) => <RunResult run={run} /> },
          { title: "Cases", minor: true, cell: ({ counts }) => countsText(counts) },
          { title: "Mode", minor: true, cell: ({ mode }) => <span title={RUN_MODE_WORDS[mode]}>{mode}</span> },
          { title: "Cost", figure: true, cell: (run) => <span className="whitespace-nowrap">{priceOfWire(run)}</span> },
          {
            title: "Time",
            figure: true,
            minor: true,
            cell: ({ duration_ms }) => <span className="whitespace-nowrap">{duration(duration_ms)}</span>,
          },
        ]}
      />
      {hasNextPage && (
        <Button className="self-center" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show older runs
        </Button>
      )}
    </>
  );
}

function RunResult({ run }: { readonly run: WireSuiteRunSummary }) {
  const remarks = [
    run.problems > 0 && count(run.problems, "problem"),
    run.failed_gates > 0 && count(run.failed_gates, "missed gate"),
    run.regressions > 0 && count(run.regressions, "regression"),
  ].filter((remark) => remark !== false);
  return (
    <div className="flex flex-col items-start gap-0.5">
      <OutcomePill good={run.exit_code === 0}>{run.exit_code === 0 ? "passed" : "failed"}</OutcomePill>
      <span className="text-xs text-faint">
        {remarks.length > 0 ? remarks.join(", ") : run.exit_code > 1 ? runOutcome({ exitCode: run.exit_code }) : ""}
      </span>
    </div>
  );
}
