import { type FormEvent, useRef, useState } from "react";
import { Action, Actions } from "./actions.tsx";
import type { AnswerProps } from "./call-answer.tsx";
import { useCardKeys } from "./card-keys.ts";
import { DenyForm } from "./deny-form.tsx";
import { AskedField } from "./question-field.tsx";
import { answersOf, askedIn, emptyFor, type Filled, problemWith } from "./questions.ts";
import { onFormKey } from "./written-form.tsx";

const CONTROLS = "input, textarea, select";

/** What the agent asks, or the form of an MCP server. */
export function QuestionAnswer({ approval: { request }, isSending, onSend }: AnswerProps) {
  const [asked] = useState(() => askedIn(request));
  const [filled, setFilled] = useState<readonly Filled[]>(() => asked.map(emptyFor));
  const [wasSent, setSent] = useState(false);
  const [isDenied, setDenied] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const focusFirst = (): void => form.current?.querySelector<HTMLElement>(CONTROLS)?.focus();
  useCardKeys(!isDenied, { a: focusFirst, d: () => setDenied(true) });
  const problems = asked.map((one, index) => problemWith(one, filled[index] ?? emptyFor(one)));
  const send = (event?: FormEvent): void => {
    event?.preventDefault();
    setSent(true);
    const missing = problems.findIndex((problem) => problem !== undefined);
    if (missing < 0) return onSend({ behavior: "allow", ...answersOf(asked, filled) });
    const field = form.current?.querySelectorAll("[data-asked]")[missing];
    field?.querySelector<HTMLElement>(CONTROLS)?.focus();
  };
  if (isDenied)
    return (
      <DenyForm
        label="Why no answer? (optional)"
        hint={request.server === undefined ? "The agent is told this." : "The server is told that nobody answers."}
        action="Do not answer"
        isSending={isSending}
        onBack={() => setDenied(false)}
        onSend={onSend}
      />
    );
  return (
    <form
      ref={form}
      noValidate
      onSubmit={send}
      onKeyDown={(event) => onFormKey(event, { send, back: () => (document.activeElement as HTMLElement).blur() })}
      className="flex flex-col gap-4"
    >
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
          {asked.length === 0 ? "Go on" : "Answer"}
        </Action>
        <Action look="quiet" hint="d" disabled={isSending} onClick={() => setDenied(true)}>
          Do not answer…
        </Action>
      </Actions>
    </form>
  );
}
