import { useState } from "react";
import { Field, TextArea } from "../../parts/form/field.tsx";
import type { AnswerProps } from "./call-answer.tsx";
import { useApprovalDraft } from "../drafts.ts";
import { WrittenForm } from "./written-form.tsx";

/** Denies, with a message to the agent. */
export function DenyForm({
  label,
  action,
  hint,
  isNeeded = false,
  isOpened,
  isSending,
  onSend,
  onBack,
}: Omit<AnswerProps, "approval"> & {
  readonly label: string;
  readonly action: string;
  readonly hint: string;
  /** Whether a message is required. */
  readonly isNeeded?: boolean;
  /** Whether it was just opened. */
  readonly isOpened: boolean;
  readonly onBack: () => void;
}) {
  const [text, setText] = useApprovalDraft("reason", "");
  const [problem, setProblem] = useState<string>();
  const deny = (): void => {
    const message = text.trim();
    if (isNeeded && message === "") return setProblem("Give a reason. The agent sees it.");
    onSend({ behavior: "deny", ...(message !== "" && { message }) });
  };
  return (
    <WrittenForm action={action} look="danger" isOpened={isOpened} isReady={!isSending} onSend={deny} onBack={onBack}>
      <Field label={label} hint={hint} problem={problem}>
        <TextArea rows={2} dir="auto" value={text} onChange={(event) => setText(event.target.value)} />
      </Field>
    </WrittenForm>
  );
}
