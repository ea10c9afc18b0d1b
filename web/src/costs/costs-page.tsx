import { useQuery } from "@tanstack/react-query";
import { ChartColumn } from "lucide-react";
import { useMemo } from "react";
import { Link, useSearchParams } from "wouter";
import { api } from "../api.ts";
import { useCaller, useMay } from "../caller.tsx";
import { Choice } from "../parts/form/choice.tsx";
import { Empty } from "../parts/empty.tsx";
import { Loading } from "../parts/loading.tsx";
import { Page } from "../parts/page.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { BudgetMeters } from "./budget-meters.tsx";
import { CostCharts } from "./charts.tsx";
import { chosenZone } from "./days.ts";
import { DearestSessions, DearestTools } from "./dearest.tsx";
import { type Range, useSpending } from "./ledger-query.ts";
import { billingsIn } from "./sums.ts";
import { Totals } from "./totals.tsx";
import { PAYERS, price } from "./words.ts";

/** A login belongs to one project, so only that project is shown. */
const DIVISIONS = ["agent", "model", "project"] as const;
const RANGES: readonly Range[] = [7, 30, 90];
const BROWSER_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Spending and budgets. The selection is in the URL, so that it can be shared. */
export function CostsPage() {
  const { project } = useCaller();
  const [search, setSearch] = useSearchParams();
  const range = RANGES.find((days) => String(days) === search.get("days")) ?? 30;
  const by = DIVISIONS.find((division) => division === search.get("by")) ?? "agent";
  const choose = (name: string, value: string): void =>
    setSearch((before) => {
      const changed = new URLSearchParams(before);
      changed.set(name, value);
      return changed;
    });
  const budgets = useQuery({ queryKey: ["budgets"], queryFn: () => api.budgets(), refetchInterval: 15_000 });
  const ofSettings = budgets.data?.settings.day?.time_zone;
  const zone = budgets.isPending ? undefined : chosenZone(ofSettings, BROWSER_ZONE);
  const spending = useSpending({ by: "day", split: by }, range, zone);
  const kinds = useMemo(() => billingsIn(spending.data?.lines ?? []), [spending.data]);
  const billing = (kinds.find((kind) => kind.billing === search.get("billing")) ?? kinds[0])?.billing;
  const shown = useMemo(
    () =>
      spending.data && {
        days: spending.data.days,
        lines: spending.data.lines.filter((line) => line.billing === billing),
      },
    [spending.data, billing],
  );
  return (
    <Page
      title="Costs"
      about={
        <>
          Project <bdi className="font-medium text-text">{project}</bdi>
          {zone !== undefined &&
            ` · days start at midnight in ${zone} (${zone === ofSettings ? "the settings'" : "this browser's"} time zone)`}
        </>
      }
      actions={
        <>
          <Choice
            label="Days shown"
            value={String(range)}
            options={RANGES.map((days) => ({ value: String(days), label: `${days} days` }))}
            onChoose={(value) => choose("days", value)}
          />
          <Choice
            label="Group by"
            value={by}
            options={DIVISIONS.map((division) => ({ value: division, label: `By ${division}` }))}
            onChoose={(value) => choose("by", value)}
          />
        </>
      }
    >
      {spending.error !== null && (
        <Problem thrown={spending.error} title="Could not load the ledger" onRetry={() => void spending.refetch()} />
      )}
      {shown === undefined && spending.error === null && <Loading label="Loading the ledger" />}
      {shown !== undefined && billing === undefined && <Nothing range={range} onLonger={() => choose("days", "90")} />}
      {shown !== undefined && billing !== undefined && (
        <>
          {kinds.length > 1 && (
            <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-faint">
              <Choice
                label="Billing"
                value={billing}
                options={kinds.map((kind) => ({
                  value: kind.billing,
                  label: (
                    <>
                      {PAYERS[kind.billing]}
                      <span data-figure className="text-xs text-muted">
                        {price(kind.sums)}
                      </span>
                    </>
                  ),
                }))}
                onChoose={(value) => choose("billing", value)}
              />
              Shown separately, because subscriptions and rehearsals are not billed by usage.
            </div>
          )}
          <Totals lines={shown.lines} billing={billing} range={range} zone={zone} />
          <CostCharts spending={shown} billing={billing} by={by}>
            <BudgetMeters budgets={budgets} />
          </CostCharts>
        </>
      )}
      {billing === undefined && <BudgetMeters budgets={budgets} />}
      {billing !== undefined && (
        <>
          <DearestSessions range={range} zone={zone} billing={billing} />
          <DearestTools range={range} zone={zone} billing={billing} />
        </>
      )}
    </Page>
  );
}

function Nothing({ range, onLonger }: { readonly range: Range; readonly onLonger: () => void }) {
  const mayStart = useMay("operator");
  return (
    <Empty icon={<ChartColumn />} title={`No model requests in the last ${range} days`}>
      <p>This page shows the cost, tokens and cache hits of every model request.</p>
      <p className="mt-2 flex flex-wrap justify-center gap-x-4">
        {mayStart && (
          <Link href="/new" className="text-accent underline">
            Start a session
          </Link>
        )}
        {range < 90 && (
          <button type="button" className="text-accent underline" onClick={onLonger}>
            Show the last 90 days
          </button>
        )}
      </p>
    </Empty>
  );
}
