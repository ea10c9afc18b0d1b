import { type KeyboardEvent, type ReactNode, useEffect, useRef } from "react";
import { Action, Actions } from "./actions.tsx";

/** The second step of an answer, which is written in the text field that it holds. */
export function WrittenForm({
  action,
  look,
  isReady,
  onSend,
  onBack,
  children,
}: {
  readonly action: string;
  readonly look: "primary" | "danger";
  readonly isReady: boolean;
  readonly onSend: () => void;
  readonly onBack: () => void;
  readonly children: ReactNode;
}) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector("textarea")?.focus(), []);
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
