import { Check, Undo2 } from "lucide-react";
import { Action, Actions } from "./actions.tsx";
import type { AnswerProps } from "./call-answer.tsx";
import { useCardKeys } from "./card-keys.ts";
import { DenyForm } from "./deny-form.tsx";
import { useMode } from "../drafts.ts";
import { Unseen } from "./unseen-note.tsx";

/** Approves a plan, or sends it back with requested changes. */
export function PlanAnswer({ isSending, onSend }: AnswerProps) {
  const { mode, isOpened, open } = useMode();
  const approve = (): void => onSend({ behavior: "allow" });
  useCardKeys(mode === "choose" && !isSending, { a: approve, d: () => open("deny") });
  if (mode === "deny")
    return (
      <DenyForm
        label="What should change?"
        hint="The agent sees this and stays in plan mode."
        action="Send back"
        isOpened={isOpened}
        isSending={isSending}
        onBack={() => open("choose")}
        onSend={onSend}
      />
    );
  return (
    <Actions>
      <Unseen />
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
        onClick={() => open("deny")}
      >
        Send back…
      </Action>
    </Actions>
  );
}
