import { type FocusEvent, type RefObject, useEffect, useRef } from "react";

/**
 * Moves the focus from card to card while a person answers, and back to where it was in the end. It never takes the focus
 * away from another part of the page.
 */
export function useDockFocus(dock: RefObject<HTMLElement | null>, current: string | undefined) {
  const before = useRef<HTMLElement>(null);
  const shown = useRef(current);
  const leaving = useRef<string>(undefined);
  const isOurs = useRef(false);
  const go = (): void => {
    const card = dock.current?.querySelector<HTMLElement>(`[data-approval="${CSS.escape(current ?? "")}"]`);
    isOurs.current = true;
    card?.focus({ preventScroll: true });
    card?.scrollIntoView({ block: "nearest" });
    isOurs.current = false;
  };
  useEffect(() => {
    shown.current = current;
    if (leaving.current === undefined || leaving.current === current) return;
    leaving.current = undefined;
    const active = document.activeElement;
    // Only if the focus was lost with the pressed button: the person may already be typing in another field of the dock.
    if (active !== null && active !== document.body) return;
    if (current === undefined) giveBack(before.current);
    else go();
  });
  return {
    /** Focuses the card that is shown. */
    go: () => {
      if (dock.current?.contains(document.activeElement) === true) return go();
      before.current = document.activeElement instanceof HTMLElement ? document.activeElement : null;
      go();
    },
    /** Focuses the next card as soon as it appears. A card that is not shown does not take the focus. */
    follow: (id: string) => {
      if (id === shown.current) leaving.current = id;
    },
    onFocus: ({ relatedTarget }: FocusEvent) => {
      if (isOurs.current || dock.current?.contains(relatedTarget) === true) return;
      before.current = relatedTarget instanceof HTMLElement ? relatedTarget : null;
    },
  };
}

function giveBack(before: HTMLElement | null): void {
  if (before !== null && before !== document.body) before.focus({ preventScroll: true });
  if (document.activeElement === null || document.activeElement === document.body)
    document.querySelector<HTMLElement>("[role=log]")?.focus({ preventScroll: true });
}
