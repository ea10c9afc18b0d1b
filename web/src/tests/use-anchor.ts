import { useEffect, useState } from "react";

/** The part of the page that the address names, as it changes. */
export function useAnchor(): string | undefined {
  const [anchor, setAnchor] = useState(current);
  useEffect(() => {
    const look = (): void => setAnchor(current());
    addEventListener("hashchange", look);
    return () => removeEventListener("hashchange", look);
  }, []);
  return anchor;
}

function current(): string | undefined {
  return location.hash === "" ? undefined : location.hash.slice(1);
}

/** So that the address can be handed on. No entry in the history: going back leaves the page. */
export function nameInAddress(anchor: string): void {
  history.replaceState(history.state, "", `#${anchor}`);
}

/** Scrolls to it and gives it the focus, once it is there. */
export function goTo(anchor: string): void {
  const place = document.getElementById(anchor);
  place?.scrollIntoView({ block: "start" });
  place?.querySelector("button")?.focus({ preventScroll: true });
}
