import { Check, Undo2 } from "lucide-react";
import { useState } from "react";
import { Action, Actions } from "./actions.tsx";
import type { AnswerProps } from "./call-answer.tsx";
import { useCardKeys } from "./card-keys.ts";
import { DenyForm } from "./deny-form.tsx";

/** Is this plan good? It is carried out as it is, or sent back with what to change. */
export function PlanAnswer({ isSending, onSend }: AnswerProps) {
  const [isBack, setBack] = useState(false);
  const approve = (): void => onSend({ behavior: "allow" });
  useCardKeys(!isBack && !isSending, { a: approve, d: () => setBack(true) });
  if (isBack)
    return (
      <DenyForm
        label="What should change?"
        hint="The agent is told this, and stays in plan mode."
        action="Send back"
        isSending={isSending}
        onBack={() => setBack(false)}
        onSend={onSend}
      />
    );
  return (
    <Actions>
      <Action
        look="primary"
        icon={<Check className="size-4" aria-hidden />}
        hint="a"
        disabled={isSending}
        onClick={approve}
      >
        Approve
      </Action>
      <Action
        icon={<Undo2 className="size-4" aria-hidden />}
        hint="d"
        disabled={isSending}
        onClick={() => setBack(true)}
      >
        Send back…
      </Action>
    </Actions>
  );
}
