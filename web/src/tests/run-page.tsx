import { useQuery, useQueryClient } from "@tanstack/react-query";
import { ExternalLink, FlaskConicalOff, Trash2 } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { Link, useLocation } from "wouter";
import type { WireSuiteRun } from "../../../src/client/index.ts";
import { runOutcome } from "../../../src/protocol/api/suite-run-facts.ts";
import { api, isRefused } from "../api.ts";
import { useMay } from "../caller.tsx";
import { Button } from "../parts/button.tsx";
import { Choice } from "../parts/form/choice.tsx";
import { Confirm } from "../parts/form/confirm.tsx";
import { Empty } from "../parts/empty.tsx";
import { Input } from "../parts/form/field.tsx";
import { When } from "../parts/figures/figures.tsx";
import { Loading } from "../parts/loading.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { tell } from "../parts/toast.tsx";
import { didNotPass, filterSuites, firstOpen, placeSuites } from "./placed-cases.ts";
import { RUN_MODE_WORDS } from "./run-facts.ts";
import { Remarks, RunOverview } from "./run-overview.tsx";
import { SuiteView } from "./suite-view.tsx";
import { goToAnchor, nameInAddress, useAnchor } from "./use-anchor.ts";
import { duration, thousands } from "../../../src/words/amounts.ts";

/** A run of suites. It never changes, so it is fetched once. */
export function RunPage({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["suite-run", id],
    queryFn: () => api.suites.run(id),
    staleTime: Infinity,
  });
  if (isRefused(error, 404))
    return (
      <Page title="Test run">
        <Empty icon={<FlaskConicalOff />} title="Run not found">
          It was deleted, is older than the last 200 runs of its suites, or belongs to another project.{" "}
          <Link href="/tests" className="text-accent underline">
            Go to runs
          </Link>
        </Empty>
      </Page>
    );
  if (data !== undefined) return <Run run={data} />;
  return (
    <Page title="Test run">
      {error === null ? (
        <Loading label="Loading the run" />
      ) : (
        <Problem thrown={error} title="Could not load the run" onRetry={() => void refetch()} />
      )}
    </Page>
  );
}

function Run({ run }: { readonly run: WireSuiteRun }) {
  return (
    <Page
      title={`Test run ${runOutcome(run).toLowerCase()}`}
      about={
        <span className="break-words">
          {RUN_MODE_WORDS[run.mode]} · <When at={run.startedAt} /> · {duration(run.durationMs)} · exit code{" "}
          {run.exitCode} · Capstan {run.capstan}, Agent SDK {run.sdk} ·{" "}
          <code className="font-mono text-xs break-all">{run.id}</code>
        </span>
      }
      actions={<Actions run={run} />}
    >
      <RunOverview run={run} />
      <Cases run={run} />
    </Page>
  );
}

function Actions({ run: { id } }: { readonly run: WireSuiteRun }) {
  const [isAsking, setAsking] = useState(false);
  const [, navigate] = useLocation();
  const queries = useQueryClient();
  const mayDelete = useMay("admin");
  const remove = async (): Promise<void> => {
    await api.suites.delete(id);
    navigate("/tests");
    tell("Run deleted.");
    queries.removeQueries({ queryKey: ["suite-run", id] });
    await Promise.all([
      queries.invalidateQueries({ queryKey: ["suites"] }),
      queries.invalidateQueries({ queryKey: ["suite-runs"] }),
    ]);
  };
  return (
    <>
      <a
        href={`/api/suites/runs/${encodeURIComponent(id)}/report.html`}
        target="_blank"
        rel="noopener"
        className="inline-flex h-8 items-center gap-1.5 rounded-md border border-line bg-surface px-3 text-sm font-medium hover:border-line-strong hover:bg-sunken"
      >
        <ExternalLink aria-hidden className="size-4" />
        HTML report
      </a>
      {mayDelete && (
        <Button look="danger" icon={<Trash2 aria-hidden className="size-4" />} onClick={() => setAsking(true)}>
          Delete
        </Button>
      )}
      {isAsking && (
        <Confirm title="Delete this run?" action="Delete run" onConfirm={remove} onClose={() => setAsking(false)}>
          <p>
            Deletes its transcripts and its report. A suite without other runs is no longer listed. This cannot be
            undone.
          </p>
        </Confirm>
      )}
    </>
  );
}

function Cases({ run }: { readonly run: WireSuiteRun }) {
  const suites = useMemo(() => placeSuites(run.suites), [run]);
  const bad = useMemo(() => run.suites.flatMap(({ cases }) => cases).filter(didNotPass).length, [run]);
  const all = useMemo(() => run.suites.reduce((sum, { cases }) => sum + cases.length, 0), [run]);
  const anchor = useAnchor();
  const [onlyBad, setOnlyBad] = useState(false);
  const [text, setText] = useState("");
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set(firstOpen(suites)));
  // A linked case is shown despite the filter.
  useEffect(() => {
    if (anchor === undefined) return;
    setOnlyBad(false);
    setText("");
    setOpen((before) => new Set([...before, anchor]));
    const frame = requestAnimationFrame(() => goToAnchor(anchor));
    return () => cancelAnimationFrame(frame);
  }, [anchor]);
  const toggle = (one: string): void => {
    const isOpen = open.has(one);
    setOpen(isOpen ? new Set([...open].filter((other) => other !== one)) : new Set([...open, one]));
    if (!isOpen) nameInAddress(one);
  };
  const shown = useMemo(() => filterSuites(suites, { onlyBad, text }), [suites, onlyBad, text]);
  return (
    <>
      <Remarks run={run} suites={suites} />
      {all > 1 && (
        <div className="flex flex-wrap items-center gap-2">
          <Choice
            label="Cases shown"
            value={onlyBad ? "bad" : "all"}
            options={[
              { value: "all", label: `All cases (${thousands(all)})` },
              { value: "bad", label: `Did not pass (${thousands(bad)})` },
            ]}
            onChoose={(value) => setOnlyBad(value === "bad")}
          />
          <Input
            type="search"
            aria-label="Search cases"
            placeholder="Name or tag"
            className="max-w-56"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </div>
      )}
      {shown.length === 0 && (
        <Empty title={all === 0 ? "No cases were run" : "No matching cases"}>
          {all > 0 && (
            <button
              type="button"
              className="text-accent underline"
              onClick={() => {
                setOnlyBad(false);
                setText("");
              }}
            >
              Show all cases
            </button>
          )}
        </Empty>
      )}
      {shown.map((one) => (
        <SuiteView key={one.anchor} placed={one} open={open} wanted={anchor} onToggle={toggle} />
      ))}
    </>
  );
}
