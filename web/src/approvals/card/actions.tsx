import { type ReactNode, useSyncExternalStore } from "react";
import { Button, type ButtonProps } from "../../parts/button.tsx";
import { cx } from "../../parts/cx.ts";
import { useSingleKeys } from "../../shell/single-keys.ts";
import { useCard } from "./card-position.ts";

/** Thumb-sized on a phone, without icons so that the labels fit on one line. */
export function Action(props: ButtonProps) {
  return <Button {...props} className="max-md:h-11 max-md:flex-1 max-md:[&_svg]:hidden" />;
}

/** In milliseconds: ignores the second click of a double click if another card has moved under the pointer. */
const SETTLE_MS = 500;
const listeners = new Set<() => void>();
let settling: ReturnType<typeof setTimeout> | undefined;

/** Call this when a click has made a card smaller and moved the cards below it. */
export function reportCardsMoved(): void {
  clearTimeout(settling);
  settling = setTimeout(() => {
    settling = undefined;
    for (const tell of listeners) tell();
  }, SETTLE_MS);
  for (const tell of listeners) tell();
}

/** Whether the cards have been still long enough that a click on one is intentional. */
function useSettled(): boolean {
  return useSyncExternalStore(subscribe, () => settling === undefined);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * The buttons of a card. On a phone, those of the current card stick to the bottom of the screen while the card is visible.
 * Key hints are shown only on the current card, but always take up space: a button must not move away from the click
 * that makes its card current.
 */
export function Actions({ children }: { readonly children: ReactNode }) {
  const { isCurrent } = useCard();
  const hasKeys = useSingleKeys() && isCurrent;
  const isSettled = useSettled();
  return (
    <div
      data-actions
      className={cx(
        "-mx-3 -mb-3 flex scroll-mb-4 flex-wrap items-center gap-2 rounded-b-lg bg-surface p-3 sm:-mx-4 sm:-mb-4 sm:px-4",
        "max-md:border-t max-md:border-line",
        isCurrent && "max-md:sticky max-md:bottom-0",
        !hasKeys && "[&_kbd]:invisible",
        !isSettled && "pointer-events-none",
      )}
    >
      {children}
    </div>
  );
}
