import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

/** In pixels from the end: closer than this follows new items. */
export const NEAR_END = 120;

/**
 * Whether the view stays at the end of the transcript. Only scrolling up stops it: more text, or less room because an
 * approval or a longer message needs it, moves the end away as well, without anyone having asked for it.
 */
export function useFollowEnd(
  scroller: RefObject<HTMLElement | null>,
  content: RefObject<HTMLElement | null>,
  scrollToEnd: () => void,
): {
  readonly isFollowing: boolean;
  /** Goes to the end and stays there. */
  readonly toEnd: () => void;
  /** Call on each scroll event. Returns whether the view still follows. */
  readonly onMove: (element: HTMLElement) => boolean;
} {
  const [isFollowing, setFollowing] = useState(true);
  const follows = useRef(true);
  const lastTop = useRef(0);
  const change = useCallback((next: boolean): void => {
    follows.current = next;
    setFollowing(next);
  }, []);
  const onMove = (element: HTMLElement): boolean => {
    const isUp = element.scrollTop < lastTop.current;
    lastTop.current = element.scrollTop;
    if (toGo(element) <= NEAR_END) change(true);
    else if (isUp) change(false);
    return follows.current;
  };
  const toEnd = useCallback((): void => {
    change(true);
    scrollToEnd();
  }, [change, scrollToEnd]);

  useEffect(() => {
    const view = scroller.current;
    const all = content.current;
    if (view === null || all === null) return;
    // Reports the first sizes as well, so a transcript starts at its end.
    const observer = new ResizeObserver(() => {
      if (follows.current && toGo(view) > 0) scrollToEnd();
    });
    observer.observe(view);
    observer.observe(all);
    return () => observer.disconnect();
  }, [scroller, content, scrollToEnd]);
  return { isFollowing, toEnd, onMove };
}

/** In pixels. */
function toGo({ scrollHeight, scrollTop, clientHeight }: HTMLElement): number {
  return scrollHeight - scrollTop - clientHeight;
}
