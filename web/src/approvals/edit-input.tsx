import { useEffect, useRef, useState } from "react";
import type { WireApproval } from "../../../src/client/index.ts";
import { Button } from "../parts/button.tsx";
import { Field, TextArea } from "../parts/field.tsx";
import { ACTION, Actions } from "./actions.tsx";
import { readInput } from "./describe.ts";
import { useDraft } from "./drafts.ts";
import { onFormKey } from "./form-keys.ts";

type Input = WireApproval["request"]["input"];

/** The input, to be changed before it runs: a command as it is, anything else as JSON. */
export function EditInput({
  input,
  isOpened,
  isSending,
  onAllow,
  onBack,
}: {
  readonly input: Input;
  /** Whether somebody has opened it just now. */
  readonly isOpened: boolean;
  readonly isSending: boolean;
  readonly onAllow: (input: Input) => void;
  readonly onBack: () => void;
}) {
  const { command } = input;
  const isCommand = typeof command === "string";
  const asAsked = isCommand ? command : JSON.stringify(input, undefined, 2);
  const [text, setText] = useDraft("input", asAsked);
  const [wasSent, setSent] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (isOpened) form.current?.querySelector("textarea")?.focus();
  }, [isOpened]);
  const read = isCommand ? withCommand(input, text) : readInput(text);
  const problem = typeof read === "string" ? read : undefined;
  const send = (): void => {
    setSent(true);
    if (typeof read !== "string") onAllow(read);
  };
  return (
    <form
      ref={form}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
      onKeyDown={(event) => onFormKey(event, { send, back: onBack })}
    >
      <Field
        label={isCommand ? "The command to run instead" : "The input to run it with instead, as JSON"}
        hint="It runs once, as it stands here. Rules that deny still hold."
        problem={wasSent || !isCommand ? problem : undefined}
      >
        {(attributes) => (
          <TextArea
            {...attributes}
            rows={Math.min(16, Math.max(isCommand ? 2 : 6, text.split("\n").length))}
            dir="ltr"
            spellCheck={false}
            className="font-mono text-xs"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      <Actions>
        <Button type="submit" look="primary" className={ACTION} disabled={isSending || problem !== undefined}>
          Allow as edited
        </Button>
        <Button look="quiet" className={ACTION} onClick={onBack}>
          Back
        </Button>
        {text !== asAsked && (
          <Button look="quiet" className={ACTION} onClick={() => setText(asAsked)}>
            Undo edits
          </Button>
        )}
      </Actions>
    </form>
  );
}

function withCommand(input: Input, command: string): Input | string {
  return command.trim() === "" ? "A command is needed." : { ...input, command };
}
