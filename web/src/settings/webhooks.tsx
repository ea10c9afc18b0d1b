import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import type { WireNewWebhook, WireWebhook } from "../../../src/client/index.ts";
import { api, queries } from "../api.ts";
import { useMay } from "../caller.tsx";
import { Button } from "../parts/button.tsx";
import { Confirm } from "../parts/form/confirm.tsx";
import { Ago } from "../parts/figures/figures.tsx";
import { Loading } from "../parts/loading.tsx";
import { Section } from "../parts/page.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { Table } from "../parts/table.tsx";
import { tell, tellProblem } from "../parts/toast.tsx";
import { Pill } from "../parts/tone.tsx";
import { Deliveries } from "./deliveries.tsx";
import { NewWebhook } from "./new-webhook.tsx";
import { SecretOnce } from "./secret-once.tsx";

export function Webhooks() {
  const isAdmin = useMay("admin");
  const [open, setOpen] = useState<"new" | WireNewWebhook>();
  const close = (): void => setOpen(undefined);
  return (
    <Section
      title="Webhooks"
      actions={
        isAdmin && (
          <Button icon={<Plus className="size-4" />} onClick={() => setOpen("new")}>
            New webhook
          </Button>
        )
      }
    >
      {isAdmin ? (
        <WebhookTable />
      ) : (
        <p className="text-sm text-muted">
          Webhooks notify other programs about sessions. Only admins can see and create them.
        </p>
      )}
      {open === "new" && <NewWebhook onClose={close} onMade={setOpen} />}
      {typeof open === "object" && (
        <SecretOnce title="Signing secret" secret={open.secret} onClose={close}>
          The receiver uses it to verify that requests come from this server.
        </SecretOnce>
      )}
    </Section>
  );
}

function WebhookTable() {
  const [leaving, setLeaving] = useState<WireWebhook>();
  const [looked, setLooked] = useState<WireWebhook>();
  const { data, error, refetch } = useQuery({ queryKey: ["webhooks"], queryFn: () => api.webhooks.list() });
  if (error !== null)
    return <Problem thrown={error} title="Could not load the webhooks" onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading />;
  return (
    <>
      <Table
        caption="Webhooks"
        rows={data}
        rowKey={({ id }) => id}
        empty="No webhooks yet. Add one to be notified when approval is needed or a turn ends."
        columns={[
          {
            title: "URL",
            flexible: true,
            cell: ({ url }) => (
              <code dir="ltr" className="block max-w-72 min-w-24 truncate font-mono text-xs" title={url}>
                {url}
              </code>
            ),
          },
          { title: "Events", minor: true, cell: ({ events }) => <Told events={events} /> },
          {
            title: "State",
            cell: ({ disabled_at: at }) =>
              at === null ? (
                <Pill tone="good">on</Pill>
              ) : (
                <span className="flex flex-wrap items-center gap-1">
                  <Pill tone="quiet">off</Pill>
                  <span className="text-xs text-muted">
                    <Ago at={at} />
                  </span>
                </span>
              ),
          },
          {
            title: "Actions",
            cell: (webhook) => (
              <span className="flex gap-2 max-sm:flex-col">
                <Button small onClick={() => setLooked(webhook)}>
                  Deliveries<span className="sr-only"> to {webhook.url}</span>
                </Button>
                <Button small onClick={() => turn(webhook)}>
                  {webhook.disabled_at === null ? "Switch off" : "Switch on"}
                  <span className="sr-only"> {webhook.url}</span>
                </Button>
                <Button small look="danger" onClick={() => setLeaving(webhook)}>
                  Remove<span className="sr-only"> {webhook.url}</span>
                </Button>
              </span>
            ),
          },
        ]}
      />
      {looked !== undefined && <Deliveries webhook={looked} onClose={() => setLooked(undefined)} />}
      {leaving !== undefined && (
        <Confirm
          title="Remove this webhook?"
          action="Remove"
          onClose={() => setLeaving(undefined)}
          onConfirm={async () => {
            await api.webhooks.delete(leaving.id);
            await queries.invalidateQueries({ queryKey: ["webhooks"] });
            tell("Removed.");
          }}
        >
          <code className="font-mono text-xs break-all">{leaving.url}</code>
          <p>Pending deliveries are not sent, and its delivery log is deleted.</p>
        </Confirm>
      )}
    </>
  );
}

/** Toggles a webhook. */
function turn(webhook: WireWebhook): void {
  const change = webhook.disabled_at === null ? api.webhooks.disable(webhook.id) : api.webhooks.enable(webhook.id);
  change
    .then((changed) => {
      tell(changed.disabled_at === null ? "Switched on. Pending deliveries are being sent." : "Switched off.");
      return queries.invalidateQueries({ queryKey: ["webhooks"] });
    })
    .catch(tellProblem);
}

function Told({ events }: { readonly events: readonly string[] }) {
  if (events.length === 0) return "everything";
  return (
    <span className="block max-w-64 truncate" title={events.join(", ")}>
      {events.length === 1 ? events[0] : `${events.length} event types`}
    </span>
  );
}
