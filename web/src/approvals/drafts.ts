import { useState } from "react";
import { useCard } from "./card/card-place.ts";
import type { Filled } from "./questions/questions.ts";

/** What somebody has begun to answer with. How long it holds is chosen anew each time: nobody allows more than they see. */
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

/** By approval. A card that is left, by whatever way, is found again as it was. It goes with the page. */
const drafts = new Map<string, Partial<Draft>>();

/** A part of the answer, as it was left. */
export function useDraft<Part extends keyof Draft>(
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

/** Which form is open. Only one that was opened just now gets the focus: one that was found open takes it from nobody. */
export function useMode() {
  const [mode, keep] = useDraft("mode", "choose");
  const [isOpened, setOpened] = useState(false);
  const open = (next: Draft["mode"]): void => {
    setOpened(true);
    keep(next);
  };
  return { mode, isOpened, open };
}

/** Nothing can be answered any more. */
export function forgetDraft(id: string): void {
  drafts.delete(id);
}
