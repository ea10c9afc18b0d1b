import { Check, Pencil, X } from "lucide-react";
import { useState } from "react";
import type { WireAnswer, WireApproval } from "../../../../src/client/index.ts";
import { useMay } from "../../caller.tsx";
import { Action, Actions } from "./actions.tsx";
import { useCardKeys } from "./card-keys.ts";
import { DenyForm } from "./deny-form.tsx";
import { useApprovalDraft, useMode } from "../drafts.ts";
import { EditInput } from "./edit-input.tsx";
import { Remember, type Scope } from "./remember.tsx";
import { Unseen } from "./unseen-note.tsx";

export interface AnswerProps {
  readonly approval: WireApproval;
  readonly isSending: boolean;
  readonly onSend: (answer: WireAnswer) => void;
}

const ALLOW: Record<Scope, string> = {
  once: "Allow once",
  session: "Allow in this session",
  project: "Allow in this project",
};

/** Allows or denies a tool call. */
export function CallAnswer({ approval: { request }, isSending, onSend }: AnswerProps) {
  const { mode, isOpened, open } = useMode();
  const mayWrite = useMay("admin");
  const [scope, setScope] = useState<Scope>("once");
  const [rules, setRules] = useApprovalDraft("rules", request.remember);
  const written = rules.map((rule) => rule.trim()).filter((rule) => rule !== "");
  const isReady = !isSending && (scope === "once" || written.length > 0);
  const allow = (): void => {
    if (isReady) onSend({ behavior: "allow", ...(scope !== "once" && { scope, rules: written }) });
  };
  useCardKeys(mode === "choose", {
    a: allow,
    d: () => open("deny"),
    e: () => open("edit"),
  });
  if (mode === "deny")
    return (
      <DenyForm
        label="Why not? (optional)"
        hint="The agent sees this and continues from there."
        action="Deny"
        isOpened={isOpened}
        isSending={isSending}
        onBack={() => open("choose")}
        onSend={onSend}
      />
    );
  if (mode === "edit")
    return (
      <EditInput
        input={request.input}
        isOpened={isOpened}
        isSending={isSending}
        onBack={() => open("choose")}
        onAllow={(input) => onSend({ behavior: "allow", input })}
      />
    );
  return (
    <>
      <Remember
        scope={scope}
        rules={rules}
        forbidden={
          request.remember.length === 0
            ? `This answer cannot be remembered: ${request.asked_by} always asks, or no rule can describe this call.`
            : undefined
        }
        mayWrite={mayWrite}
        onScope={setScope}
        onRules={setRules}
      />
      <Actions>
        <Unseen />
        <Action
          look="primary"
          icon={<Check className="size-4" aria-hidden />}
          hint="a"
          disabled={!isReady}
          onClick={allow}
        >
          {ALLOW[scope]}
        </Action>
        <Action
          look="danger"
          icon={<X className="size-4" aria-hidden />}
          hint="d"
          disabled={isSending}
          onClick={() => open("deny")}
        >
          Deny…
        </Action>
        <Action
          look="quiet"
          icon={<Pencil className="size-3.5" aria-hidden />}
          hint="e"
          disabled={isSending}
          onClick={() => open("edit")}
        >
          Edit…
        </Action>
      </Actions>
    </>
  );
}
