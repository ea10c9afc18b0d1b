import { type FocusEvent, type RefObject, useEffect, useRef } from "react";

/**
 * Where the focus is while somebody answers: it goes from card to card, and in the end back to where it was. It is never
 * taken from somebody who has gone elsewhere meanwhile.
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
    // Only where it is gone with what was pressed: in another field of the dock somebody writes by now.
    if (active !== null && active !== document.body) return;
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
    /** To the card that comes next, as soon as it is there. One that is not shown takes no focus with it. */
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
