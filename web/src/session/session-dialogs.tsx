import { type FormEvent, type ReactNode, useState } from "react";
import type { SessionPatch, WireSessionWithState } from "../../../src/client/index.ts";
import { api, queries } from "../api.ts";
import { Button } from "../parts/button.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Field, Input } from "../parts/field.tsx";
import { usd } from "../parts/figures.tsx";
import { Problem } from "../parts/problem.tsx";

interface Props {
  readonly session: WireSessionWithState;
  readonly onClose: () => void;
}

export function RenameDialog({ session, onClose }: Props) {
  const [title, setTitle] = useState(session.title ?? "");
  return (
    <PatchDialog
      title="Rename"
      session={session}
      onClose={onClose}
      patch={{ title: title.trim() === "" ? null : title.trim() }}
    >
      <Field label="Title" hint="Without one, the first message names the session.">
        {(attributes) => (
          <Input
            {...attributes}
            dir="auto"
            autoFocus
            maxLength={500}
            value={title}
            onChange={(event) => setTitle(event.target.value)}
          />
        )}
      </Field>
    </PatchDialog>
  );
}

export function LimitDialog({ session, onClose }: Props) {
  const before = session.state.budget?.usd ?? session.agent.budget.usd;
  const [limit, setLimit] = useState(before === undefined ? "" : String(before));
  const amount = Number(limit);
  const problem = limit !== "" && !(amount > 0) ? "It must be an amount above 0, such as 2.50." : undefined;
  return (
    <PatchDialog
      title="Change the limit"
      session={session}
      onClose={onClose}
      isValid={problem === undefined}
      patch={{ max_usd: limit === "" ? null : amount }}
    >
      <Field
        label="Limit in USD"
        problem={problem}
        hint={`Spent so far: ${usd(session.state.usd)}. Empty for the agent's own limit.`}
      >
        {(attributes) => (
          <Input
            {...attributes}
            autoFocus
            inputMode="decimal"
            value={limit}
            onChange={(event) => setLimit(event.target.value)}
          />
        )}
      </Field>
    </PatchDialog>
  );
}

/** Changes something of the session, and says in place what the server does not allow. */
function PatchDialog({
  title,
  session,
  patch,
  isValid = true,
  onClose,
  children,
}: Props & {
  readonly title: string;
  readonly patch: SessionPatch;
  readonly isValid?: boolean;
  readonly children: ReactNode;
}) {
  const [failure, setFailure] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    try {
      queries.setQueryData(["session", session.id], await api.sessions.update(session.id, patch));
      onClose();
    } catch (thrown) {
      setFailure(thrown);
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form className="flex flex-col gap-4" onSubmit={(event) => void save(event)}>
        {children}
        {failure !== undefined && <Problem thrown={failure} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" look="primary" disabled={!isValid || isBusy}>
            Save
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
