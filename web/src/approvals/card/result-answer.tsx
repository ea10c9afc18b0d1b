import { type FormEvent, useId, useRef } from "react";
import { Field, TextArea } from "../../parts/form/field.tsx";
import { Action, Actions } from "./actions.tsx";
import type { AnswerProps } from "./call-answer.tsx";
import { useCardKeys } from "./card-keys.ts";
import { DenyForm } from "./deny-form.tsx";
import { useApprovalDraft, useMode } from "../drafts.ts";
import { keepFromSending, onFormKey } from "./form-keys.ts";
import { Unseen } from "./unseen-note.tsx";

/** Provides the result of a custom tool in place of the client that runs it. */
export function ResultAnswer({ isSending, onSend }: AnswerProps) {
  const { mode, isOpened, open } = useMode();
  const [text, setText] = useApprovalDraft("result", "");
  const [isError, setError] = useApprovalDraft("isError", false);
  const form = useRef<HTMLFormElement>(null);
  const boxId = useId();
  useCardKeys(mode === "choose", {
    a: () => form.current?.querySelector("textarea")?.focus(),
    d: () => open("deny"),
  });
  if (mode === "deny")
    return (
      <DenyForm
        label="Why is there no result?"
        hint="The agent sees this."
        action="Deny"
        isNeeded
        isOpened={isOpened}
        isSending={isSending}
        onBack={() => open("choose")}
        onSend={onSend}
      />
    );
  const give = (event?: FormEvent): void => {
    event?.preventDefault();
    onSend({ behavior: "allow", result: { content: text, is_error: isError } });
  };
  return (
    <form
      ref={form}
      onSubmit={give}
      onKeyDown={(event) => {
        onFormKey(event, { send: give, back: () => (document.activeElement as HTMLElement).blur() });
        if (event.key === "Enter") keepFromSending(event);
      }}
      className="flex flex-col gap-2"
    >
      <Field label="Result" hint="The program that provides this tool may answer first.">
        <TextArea
          rows={3}
          dir="auto"
          className="font-mono text-xs"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
      <label htmlFor={boxId} className="flex min-h-8 items-center gap-2 text-sm max-md:min-h-10">
        <input
          id={boxId}
          type="checkbox"
          className="size-4 accent-accent"
          checked={isError}
          onChange={(event) => setError(event.target.checked)}
        />
        The tool failed; this is its error
      </label>
      <Actions>
        <Unseen />
        <Action type="submit" look="primary" disabled={isSending}>
          Send result
        </Action>
        <Action look="danger" hint="d" disabled={isSending} onClick={() => open("deny")}>
          Deny…
        </Action>
      </Actions>
    </form>
  );
}
