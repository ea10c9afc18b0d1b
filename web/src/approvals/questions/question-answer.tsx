import { type FormEvent, type KeyboardEvent, useRef, useState } from "react";
import { Action, Actions } from "../card/actions.tsx";
import type { AnswerProps } from "../card/call-answer.tsx";
import { useCardKeys } from "../card/card-keys.ts";
import { DenyForm } from "../card/deny-form.tsx";
import { useApprovalDraft, useMode } from "../drafts.ts";
import { keepFromSending, onFormKey } from "../card/form-keys.ts";
import { AskedField } from "./question-field.tsx";
import { answersOf, askedIn, emptyFor, problemWith } from "./questions.ts";

const CONTROLS = "input, textarea, select";

/** Questions from the agent, or the form of an MCP server. */
export function QuestionAnswer({ approval: { request }, isSending, onSend }: AnswerProps) {
  const [asked] = useState(() => askedIn(request));
  const [filled, setFilled] = useApprovalDraft("filled", asked.map(emptyFor));
  const [wasSent, setSent] = useState(false);
  const { mode, isOpened, open } = useMode();
  const form = useRef<HTMLFormElement>(null);
  const focusFirst = (): void => form.current?.querySelector<HTMLElement>(CONTROLS)?.focus();
  useCardKeys(mode === "choose", { a: focusFirst, d: () => open("deny") });
  const problems = asked.map((one, index) => problemWith(one, filled[index] ?? emptyFor(one)));
  const send = (event?: FormEvent): void => {
    event?.preventDefault();
    setSent(true);
    const missing = problems.findIndex((problem) => problem !== undefined);
    if (missing < 0) return onSend({ behavior: "allow", ...answersOf(asked, filled) });
    const field = form.current?.querySelectorAll("[data-asked]")[missing];
    field?.querySelector<HTMLElement>(CONTROLS)?.focus();
  };
  const onKey = (event: KeyboardEvent): void => {
    onFormKey(event, { send, back: () => (document.activeElement as HTMLElement).blur() });
    // Enter in one of several fields must not send the form.
    if (event.key === "Enter" && asked.length > 1) keepFromSending(event);
  };
  if (mode === "deny")
    return (
      <DenyForm
        label="Why no answer? (optional)"
        hint={request.server === undefined ? "The agent sees this." : "The server only learns that nobody answers."}
        action="Do not answer"
        isOpened={isOpened}
        isSending={isSending}
        onBack={() => open("choose")}
        onSend={onSend}
      />
    );
  return (
    <form ref={form} noValidate onSubmit={send} onKeyDown={onKey} className="flex flex-col gap-4">
      {asked.map((one, index) => (
        <AskedField
          // Two questions may have the same words; their places do not change.
          // oxlint-disable-next-line react/no-array-index-key
          key={index}
          asked={one}
          filled={filled[index] ?? emptyFor(one)}
          problem={wasSent ? problems[index] : undefined}
          onChange={(put) => setFilled(filled.with(index, put))}
        />
      ))}
      <Actions>
        <Action type="submit" look="primary" disabled={isSending}>
          {asked.length === 0 ? "Continue" : "Answer"}
        </Action>
        <Action look="quiet" hint="d" disabled={isSending} onClick={() => open("deny")}>
          Do not answer…
        </Action>
      </Actions>
    </form>
  );
}
