import { CircleAlert, TriangleAlert } from "lucide-react";
import type { UseQueryResult } from "@tanstack/react-query";
import type { WireBudgets } from "../../../src/client/index.ts";
import { cx } from "../parts/cx.ts";
import { Loading } from "../parts/loading.tsx";
import { Card } from "../parts/page.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { amountOf, figureOf, type Meter, meterOf, nameOfLimit } from "./limits.ts";
import { percent } from "../../../src/words/amounts.ts";

/** Every limit beyond single sessions, and what is left of it. */
export function BudgetMeters({ budgets }: { readonly budgets: UseQueryResult<WireBudgets> }) {
  const { data, error, refetch } = budgets;
  return (
    <Card className="flex min-w-0 flex-col gap-3 p-4">
      <div>
        <h2 className="font-semibold">Budgets</h2>
        <p className="text-xs text-faint">
          Current limits per project, day and agent. Session limits are on the session page.
        </p>
      </div>
      {error !== null && <Problem thrown={error} title="Could not load the budgets" onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading />}
      {data?.lines.length === 0 && (
        <p className="text-sm text-muted">
          No budget set. Add <code className="font-mono">budgets</code> to{" "}
          <code className="font-mono">.capstan/config.yaml</code> to cap spending per project, day or agent. Requests
          that would exceed a budget are not sent.
        </p>
      )}
      {data !== undefined && data.lines.length > 0 && (
        <ul className="flex flex-col gap-4">
          {data.lines.map((line) => (
            <li key={`${line.scope} ${line.name} ${line.which}`}>
              <OneMeter meter={meterOf(line, data.settings)} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

const BARS: Record<Meter["state"], string> = { fine: "bg-good", nearly: "bg-waiting", spent: "bg-bad" };
const HELD: Record<Meter["state"], string> = { fine: "bg-good/40", nearly: "bg-waiting/40", spent: "bg-bad/40" };

function OneMeter({ meter: { line, share, state } }: { readonly meter: Meter }) {
  const { which, limit, spent, reserved, left } = line;
  const name = nameOfLimit(line);
  const amountText = (amount: number): string => amountOf(which, amount);
  const held = reserved > 0 ? `, ${amountText(reserved)} reserved for running requests` : "";
  const width = (amount: number): string => `${Math.min(100, (amount / limit) * 100)}%`;
  return (
    <div className="flex flex-col gap-1">
      <div className="flex flex-wrap items-baseline justify-between gap-x-3 text-sm">
        <span dir="auto" className="min-w-0 truncate font-medium" title={name}>
          {name}
        </span>
        <span data-figure className="text-muted">
          {amountText(left)} left
        </span>
      </div>
      <div
        role="meter"
        aria-label={`${name}, ${amountText(limit)}`}
        aria-valuemin={0}
        aria-valuemax={limit}
        aria-valuenow={Math.min(limit, spent + reserved)}
        aria-valuetext={`${figureOf(which, spent)} of ${amountText(limit)} spent${held}, ${amountText(left)} left`}
        className="flex h-2 overflow-hidden rounded-full bg-sunken"
      >
        <span className={cx("h-full", BARS[state])} style={{ width: width(spent) }} />
        <span className={cx("h-full", HELD[state])} style={{ width: width(reserved) }} />
      </div>
      <div className="flex flex-wrap items-center justify-between gap-x-3 text-xs text-faint">
        <span data-figure>
          {figureOf(which, spent)} of {amountText(limit)} spent{held}
        </span>
        <State state={state} share={share} />
      </div>
    </div>
  );
}

function State({ state, share }: Pick<Meter, "state" | "share">) {
  if (state === "fine") return <span data-figure>{percent(share)} used</span>;
  const Icon = state === "spent" ? CircleAlert : TriangleAlert;
  return (
    <span
      data-figure
      className={cx("flex items-center gap-1 font-medium", state === "spent" ? "text-bad" : "text-waiting")}
    >
      <Icon aria-hidden className="size-3.5" />
      {state === "spent" ? "Used up: no further requests are sent" : `Nearly used up: ${percent(share)}`}
    </span>
  );
}
