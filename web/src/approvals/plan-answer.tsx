import { Check, Undo2 } from "lucide-react";
import { useState } from "react";
import { Button } from "../parts/button.tsx";
import { ACTION, Actions } from "./actions.tsx";
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
        onDeny={(message) => onSend({ behavior: "deny", ...(message !== undefined && { message }) })}
      />
    );
  return (
    <Actions>
      <Button
        look="primary"
        className={ACTION}
        icon={<Check className="size-4" aria-hidden />}
        hint="a"
        disabled={isSending}
        onClick={approve}
      >
        Approve
      </Button>
      <Button
        className={ACTION}
        icon={<Undo2 className="size-4" aria-hidden />}
        hint="d"
        disabled={isSending}
        onClick={() => setBack(true)}
      >
        Send back…
      </Button>
    </Actions>
  );
}
