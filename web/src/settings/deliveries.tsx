import { useQuery } from "@tanstack/react-query";
import type { WireDelivery, WireWebhook } from "../../../src/client/index.ts";
import { api } from "../api.ts";
import { Dialog } from "../parts/form/dialog.tsx";
import { Ago, When } from "../parts/figures/figures.tsx";
import { Loading } from "../parts/loading.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { type Column, Table } from "../parts/table.tsx";
import { Pill, type Tone } from "../parts/tone.tsx";

/** In milliseconds: how often the open list is refreshed. */
const AGAIN_MS = 3_000;

/** The deliveries of a webhook and their status. */
export function Deliveries({ webhook, onClose }: { readonly webhook: WireWebhook; readonly onClose: () => void }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["webhooks", webhook.id, "deliveries"],
    queryFn: () => api.webhooks.deliveries(webhook.id),
    refetchInterval: AGAIN_MS,
  });
  return (
    <Dialog title="Deliveries" wide onClose={onClose}>
      <div className="flex flex-col gap-3">
        <p className="text-sm text-muted">
          To <code className="font-mono text-xs break-all">{webhook.url}</code>, the last 100. Failed deliveries are
          retried for several hours.
        </p>
        {error !== null && <Problem thrown={error} onRetry={() => void refetch()} />}
        {data === undefined && error === null && <Loading />}
        {data !== undefined && (
          <Table
            caption="Deliveries"
            columns={COLUMNS}
            rows={data}
            rowKey={({ id }) => id}
            empty="No deliveries yet. They appear with the next session activity."
          />
        )}
      </div>
    </Dialog>
  );
}

const TONES: Readonly<Record<WireDelivery["status"], Tone>> = { delivered: "good", waiting: "waiting", failed: "bad" };

const COLUMNS: readonly Column<WireDelivery>[] = [
  { title: "Event", cell: ({ type }) => <span className="font-mono text-xs">{type}</span> },
  { title: "When", cell: ({ created_at: at }) => <Ago at={at} /> },
  {
    title: "Status",
    cell: ({ status, last_status: answered }) => (
      <span className="flex items-center gap-2 whitespace-nowrap">
        <Pill tone={TONES[status]}>{status}</Pill>
        {answered !== null && <span className="text-xs text-muted">answered {answered}</span>}
      </span>
    ),
  },
  { title: "Attempts", figure: true, cell: ({ attempts }) => attempts },
  {
    title: "Last error",
    cell: ({ last_error: problem, next_attempt_at: next }) => (
      <div className="max-w-72 min-w-32 text-xs break-words">
        {problem === null ? <span className="text-faint">none</span> : <span className="text-bad">{problem}</span>}
        {next !== null && (
          <p className="text-muted">
            next try <When at={next} />
          </p>
        )}
      </div>
    ),
  },
];
