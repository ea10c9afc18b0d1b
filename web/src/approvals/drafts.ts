import { useState } from "react";
import { useCard } from "./card/card-position.ts";
import type { Filled } from "./questions/questions.ts";

/** A half-written answer. The scope is not kept: nobody should allow more than they see. */
interface Draft {
  /** Which form is open. */
  readonly mode: "choose" | "deny" | "edit";
  readonly reason: string;
  /** The input as edited. */
  readonly input: string;
  readonly rules: readonly string[];
  readonly filled: readonly Filled[];
  readonly result: string;
  readonly isError: boolean;
}

/** By approval id. A card keeps its draft when it is closed and opened again. Drafts are lost with the page. */
const drafts = new Map<string, Partial<Draft>>();

/** One part of the draft. */
export function useApprovalDraft<Part extends keyof Draft>(
  part: Part,
  initial: Draft[Part],
): readonly [Draft[Part], (value: Draft[Part]) => void] {
  const { id } = useCard();
  const [value, setValue] = useState<Draft[Part]>(() => drafts.get(id)?.[part] ?? initial);
  const write = (changed: Draft[Part]): void => {
    setValue(changed);
    drafts.set(id, { ...drafts.get(id), [part]: changed });
  };
  return [value, write];
}

/** Which form is open. Only a form that was just opened takes the focus. */
export function useMode() {
  const [mode, keep] = useApprovalDraft("mode", "choose");
  const [isOpened, setOpened] = useState(false);
  const open = (next: Draft["mode"]): void => {
    setOpened(true);
    keep(next);
  };
  return { mode, isOpened, open };
}

/** Call this when it can no longer be answered. */
export function forgetDraft(id: string): void {
  drafts.delete(id);
}
