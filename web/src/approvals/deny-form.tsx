import { type FormEvent, useEffect, useRef, useState } from "react";
import { Button } from "../parts/button.tsx";
import { Field, TextArea } from "../parts/field.tsx";
import { ACTION, Actions } from "./actions.tsx";
import { useDraft } from "./drafts.ts";
import { onFormKey } from "./form-keys.ts";

/** Says no, with what the agent is told. */
export function DenyForm({
  label,
  action,
  hint,
  isNeeded = false,
  isOpened,
  isSending,
  onDeny,
  onBack,
}: {
  readonly label: string;
  readonly action: string;
  readonly hint: string;
  /** Whether nothing can be denied without words. */
  readonly isNeeded?: boolean;
  /** Whether somebody has opened it just now. */
  readonly isOpened: boolean;
  readonly isSending: boolean;
  readonly onDeny: (message: string | undefined) => void;
  readonly onBack: () => void;
}) {
  const [text, setText] = useDraft("reason", "");
  const [problem, setProblem] = useState<string>();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (isOpened) form.current?.querySelector("textarea")?.focus();
  }, [isOpened]);
  const deny = (event?: FormEvent): void => {
    event?.preventDefault();
    const message = text.trim();
    if (isNeeded && message === "") return setProblem("Say why: the agent is told it.");
    onDeny(message === "" ? undefined : message);
  };
  return (
    <form ref={form} onSubmit={deny} onKeyDown={(event) => onFormKey(event, { send: deny, back: onBack })}>
      <Field label={label} hint={hint} problem={problem}>
        {(attributes) => (
          <TextArea
            {...attributes}
            rows={2}
            dir="auto"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      <Actions>
        <Button type="submit" look="danger" className={ACTION} disabled={isSending}>
          {action}
        </Button>
        <Button look="quiet" className={ACTION} onClick={onBack}>
          Back
        </Button>
      </Actions>
    </form>
  );
}
