import { type ReactNode, useSyncExternalStore } from "react";
import { Button, type ButtonProps } from "../../parts/button.tsx";
import { cx } from "../../parts/cx.ts";
import { useSingleKeys } from "../../shell/single-keys.ts";
import { useCard } from "./card-place.ts";

/** The size of a thumb on a phone; words without pictures fit into one line there. */
export function Action(props: ButtonProps) {
  return <Button {...props} className="max-md:h-11 max-md:flex-1 max-md:[&_svg]:hidden" />;
}

/** In milliseconds: the second click of two is not meant for what has come under it. */
const SETTLE_MS = 500;
const listeners = new Set<() => void>();
let settling: ReturnType<typeof setTimeout> | undefined;

/** A card has become smaller by a click, and what is below it has moved. */
export function cardsMoved(): void {
  clearTimeout(settling);
  settling = setTimeout(() => {
    settling = undefined;
    for (const tell of listeners) tell();
  }, SETTLE_MS);
  for (const tell of listeners) tell();
}

/** Whether the cards have been where they are for so long that a click on one is meant for it. */
function useSettled(): boolean {
  return useSyncExternalStore(subscribe, () => settling === undefined);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * What can be done; for the current card at the lower edge of the screen on a phone, as long as the card is in sight. The keys are shown
 * where they work; their place is kept elsewhere, so that no button moves away from the click that makes its card current.
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
