import { Check, Undo2 } from "lucide-react";
import { Button } from "../parts/button.tsx";
import { ACTION, Actions } from "./actions.tsx";
import type { AnswerProps } from "./call-answer.tsx";
import { useCardKeys } from "./card-keys.ts";
import { DenyForm } from "./deny-form.tsx";
import { useMode } from "./drafts.ts";
import { Unseen } from "./unseen.tsx";

/** Is this plan good? It is carried out as it is, or sent back with what to change. */
export function PlanAnswer({ isSending, onSend }: AnswerProps) {
  const { mode, isOpened, open } = useMode();
  const approve = (): void => onSend({ behavior: "allow" });
  useCardKeys(mode === "choose" && !isSending, { a: approve, d: () => open("deny") });
  if (mode === "deny")
    return (
      <DenyForm
        label="What should change?"
        hint="The agent is told this, and stays in plan mode."
        action="Send back"
        isOpened={isOpened}
        isSending={isSending}
        onBack={() => open("choose")}
        onDeny={(message) => onSend({ behavior: "deny", ...(message !== undefined && { message }) })}
      />
    );
  return (
    <Actions>
      <Unseen />
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
        onClick={() => open("deny")}
      >
        Send back…
      </Button>
    </Actions>
  );
}
