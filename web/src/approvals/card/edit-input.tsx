import { useState } from "react";
import type { WireApproval } from "../../../../src/client/index.ts";
import { Field, TextArea } from "../../parts/form/field.tsx";
import { Action } from "./actions.tsx";
import { readInput } from "./describe.ts";
import { useApprovalDraft } from "../drafts.ts";
import { WrittenForm } from "./written-form.tsx";

type Input = WireApproval["request"]["input"];

/** Edits the input before it runs: a command as text, anything else as JSON. */
export function EditInput({
  input,
  isOpened,
  isSending,
  onAllow,
  onBack,
}: {
  readonly input: Input;
  /** Whether it was just opened. */
  readonly isOpened: boolean;
  readonly isSending: boolean;
  readonly onAllow: (input: Input) => void;
  readonly onBack: () => void;
}) {
  const { command } = input;
  const isCommand = typeof command === "string";
  const asAsked = isCommand ? command : JSON.stringify(input, undefined, 2);
  const [text, setText] = useApprovalDraft("input", asAsked);
  const [wasSent, setSent] = useState(false);
  const read = isCommand ? withCommand(input, text) : readInput(text);
  const problem = typeof read === "string" ? read : undefined;
  const send = (): void => {
    setSent(true);
    if (typeof read !== "string") onAllow(read);
  };
  return (
    <WrittenForm
      action="Allow as edited"
      look="primary"
      isOpened={isOpened}
      isReady={!isSending && problem === undefined}
      onSend={send}
      onBack={onBack}
      more={
        text !== asAsked && (
          <Action look="quiet" onClick={() => setText(asAsked)}>
            Undo edits
          </Action>
        )
      }
    >
      <Field
        label={isCommand ? "Command to run instead" : "Input to use instead, as JSON"}
        hint="Runs once, exactly as written here. Deny rules still apply."
        problem={wasSent || !isCommand ? problem : undefined}
      >
        <TextArea
          rows={Math.min(16, Math.max(isCommand ? 2 : 6, text.split("\n").length))}
          dir="ltr"
          spellCheck={false}
          className="font-mono text-xs"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
    </WrittenForm>
  );
}

function withCommand(input: Input, command: string): Input | string {
  return command.trim() === "" ? "Enter a command." : { ...input, command };
}
