import { type FocusEvent, type RefObject, useEffect, useRef } from "react";

/**
 * Where the focus is while somebody answers: it goes from card to card, and in the end back to where it was. It is never
 * taken from somebody who has gone elsewhere meanwhile.
 */
export function useDockFocus(dock: RefObject<HTMLElement | null>, current: string | undefined) {
  const before = useRef<HTMLElement>(null);
  const isMoving = useRef(false);
  const isOurs = useRef(false);
  const go = (): void => {
    const card = dock.current?.querySelector<HTMLElement>(`[data-approval="${CSS.escape(current ?? "")}"]`);
    isOurs.current = true;
    card?.focus({ preventScroll: true });
    card?.scrollIntoView({ block: "nearest" });
    isOurs.current = false;
  };
  useEffect(() => {
    if (!isMoving.current) return;
    isMoving.current = false;
    const active = document.activeElement;
    // The button that was pressed is gone, and the focus with it.
    if (active !== null && active !== document.body && dock.current?.contains(active) !== true) return;
    if (current === undefined) giveBack(before.current);
    else go();
  });
  return {
    /** To the card that is shown. */
    go: () => {
      if (dock.current?.contains(document.activeElement) === true) return go();
      before.current = document.activeElement instanceof HTMLElement ? document.activeElement : null;
      go();
    },
    /** To the card that comes next, as soon as it is there. */
    follow: () => {
      isMoving.current = true;
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
