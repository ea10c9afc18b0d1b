import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { Button } from "../parts/button.tsx";
import { Field, TextArea } from "../parts/field.tsx";
import { ACTION, Actions } from "./actions.tsx";

/** Says no, with what the agent is told. */
export function DenyForm({
  label,
  action,
  hint,
  isNeeded = false,
  isSending,
  onDeny,
  onBack,
}: {
  readonly label: string;
  readonly action: string;
  readonly hint: string;
  /** Whether nothing can be denied without words. */
  readonly isNeeded?: boolean;
  readonly isSending: boolean;
  readonly onDeny: (message: string | undefined) => void;
  readonly onBack: () => void;
}) {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<string>();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector("textarea")?.focus(), []);
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

/** Ctrl Enter sends, Escape goes back; whatever else Escape does on the page, it does not do here. */
export function onFormKey(event: KeyboardEvent, { send, back }: { send: () => void; back: () => void }): void {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    send();
  }
  if (event.key !== "Escape") return;
  event.preventDefault();
  event.stopPropagation();
  back();
}
