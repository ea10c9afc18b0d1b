import { useState } from "react";
import type { SessionPatch, WireSessionWithState } from "../../../src/client/index.ts";
import { api, queries } from "../api.ts";
import { Field, Input } from "../parts/form/field.tsx";
import { FormDialog } from "../parts/form/form-dialog.tsx";
import { money } from "../../../src/words/amounts.ts";

interface Props {
  readonly session: WireSessionWithState;
  readonly onClose: () => void;
}

async function save({ session, onClose }: Props, patch: SessionPatch): Promise<void> {
  queries.setQueryData(["session", session.id], await api.sessions.update(session.id, patch));
  onClose();
}

export function RenameDialog(props: Props) {
  const { session, onClose } = props;
  const [title, setTitle] = useState(session.title ?? "");
  return (
    <FormDialog
      title="Rename"
      action="Save"
      onClose={onClose}
      onSubmit={() => save(props, { title: title.trim() === "" ? null : title.trim() })}
    >
      <Field label="Title" hint="Optional (default: the first message).">
        <Input dir="auto" autoFocus maxLength={500} value={title} onChange={(event) => setTitle(event.target.value)} />
      </Field>
    </FormDialog>
  );
}

export function LimitDialog(props: Props) {
  const { session, onClose } = props;
  const before = session.state.budget?.usd ?? session.agent.budget.usd;
  const [limit, setLimit] = useState(before === undefined ? "" : String(before));
  const amount = Number(limit);
  const problem = limit !== "" && !(amount > 0) ? "Enter an amount above 0, such as 2.50." : undefined;
  return (
    <FormDialog
      title="Change limit"
      action="Save"
      isReady={problem === undefined}
      onClose={onClose}
      onSubmit={() => save(props, { max_usd: limit === "" ? null : amount })}
    >
      <Field
        label="Limit in USD"
        problem={problem}
        hint={`Spent so far: ${money(session.state.usd)}. Leave empty for the agent's limit.`}
      >
        <Input autoFocus inputMode="decimal" value={limit} onChange={(event) => setLimit(event.target.value)} />
      </Field>
    </FormDialog>
  );
}
