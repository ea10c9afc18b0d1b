import { useState } from "react";
import type { WebhookRequest, WireNewWebhook } from "../../../src/client/index.ts";
import { api, queries } from "../api.ts";
import { Checkbox } from "../parts/form/checkbox.tsx";
import { Field, Input } from "../parts/form/field.tsx";
import { FormDialog } from "../parts/form/form-dialog.tsx";

type EventType = NonNullable<WebhookRequest["events"]>[number];

/** The most useful events first. */
const EVENTS: Readonly<Record<EventType, string>> = {
  "session.requires_action": "an approval or answer is needed",
  "session.status_idled": "a turn ended or is waiting",
  "session.error": "an error occurred",
  "session.budget_reached": "a limit stopped a turn",
  "session.created": "a session was created",
  "session.status_run_started": "a turn started",
  "session.status_rescheduled": "a turn was rescheduled",
  "session.status_terminated": "a session ended permanently",
  "session.updated": "a session was updated",
  "session.archived": "a session was archived",
  "session.deleted": "a session was deleted",
  "session.thread_created": "a subagent started",
  "session.thread_idled": "a subagent finished or is waiting",
  "session.thread_terminated": "a subagent ended permanently",
};

export function NewWebhook({
  onMade,
  onClose,
}: {
  readonly onMade: (webhook: WireNewWebhook) => void;
  readonly onClose: () => void;
}) {
  const [url, setUrl] = useState("");
  const [isAll, setAll] = useState(false);
  const [events, setEvents] = useState<readonly EventType[]>(["session.requires_action"]);
  const isTold = isAll || events.length > 0;
  const make = async (): Promise<void> => {
    const webhook = await api.webhooks.create({ url: url.trim(), events: isAll ? [] : [...events] });
    await queries.invalidateQueries({ queryKey: ["webhooks"] });
    onMade(webhook);
  };
  const toggle = (event: EventType, isWanted: boolean): void =>
    setEvents(isWanted ? [...events, event] : events.filter((one) => one !== event));
  return (
    <FormDialog
      title="New webhook"
      action="Add webhook"
      failed="The webhook was not created"
      isReady={isTold && url.trim() !== ""}
      note={!isTold && <p className="flex-1 text-xs text-muted">Choose at least one event.</p>}
      onSubmit={make}
      onClose={onClose}
    >
      <Field label="URL" hint="Must be https and reachable from the server. It receives signed POST requests.">
        <Input
          type="url"
          dir="ltr"
          placeholder="https://hooks.example.com/capstan"
          value={url}
          onChange={(event) => setUrl(event.target.value)}
        />
      </Field>
      <fieldset className="flex flex-col gap-2">
        <legend className="mb-1 text-sm font-medium">Events</legend>
        <Checkbox isOn={isAll} onChange={setAll}>
          All events, including those added in later versions
        </Checkbox>
        <div className="grid gap-1 border-t border-line pt-2">
          {(Object.entries(EVENTS) as [EventType, string][]).map(([event, about]) => (
            <label key={event} className="flex items-start gap-2 text-sm has-disabled:opacity-50">
              <input
                type="checkbox"
                className="mt-1 accent-accent"
                disabled={isAll}
                checked={isAll || events.includes(event)}
                onChange={(change) => toggle(event, change.target.checked)}
              />
              <span className="min-w-0">
                {about} <code className="font-mono text-xs break-all text-faint max-sm:block">{event}</code>
              </span>
            </label>
          ))}
        </div>
      </fieldset>
    </FormDialog>
  );
}
