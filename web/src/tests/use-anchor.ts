import { useEffect, useState } from "react";

/** The current URL fragment. */
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

/** Sets the fragment for sharing. No history entry: going back leaves the page. */
export function nameInAddress(anchor: string): void {
  history.replaceState(history.state, "", `#${anchor}`);
}

/** Scrolls to the element and focuses it, once it exists. */
export function goToAnchor(anchor: string): void {
  const place = document.getElementById(anchor);
  place?.scrollIntoView({ block: "start" });
  place?.querySelector("button")?.focus({ preventScroll: true });
}
