import { type ReactNode, useEffect, useRef } from "react";
import { Action, Actions } from "./actions.tsx";
import { onFormKey } from "./form-keys.ts";

/** The second step of an answer: a form with a text field. */
export function WrittenForm({
  action,
  look,
  isOpened,
  isReady,
  onSend,
  onBack,
  more,
  children,
}: {
  readonly action: string;
  readonly look: "primary" | "danger";
  /** Whether it was just opened. */
  readonly isOpened: boolean;
  readonly isReady: boolean;
  readonly onSend: () => void;
  readonly onBack: () => void;
  /** After the other buttons. */
  readonly more?: ReactNode;
  readonly children: ReactNode;
}) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (isOpened) form.current?.querySelector("textarea")?.focus();
  }, [isOpened]);
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        onSend();
      }}
      onKeyDown={(event) => onFormKey(event, { send: onSend, back: onBack })}
    >
      {children}
      <Actions>
        <Action type="submit" look={look} disabled={!isReady}>
          {action}
        </Action>
        <Action look="quiet" onClick={onBack}>
          Back
        </Action>
        {more}
      </Actions>
    </form>
  );
}
