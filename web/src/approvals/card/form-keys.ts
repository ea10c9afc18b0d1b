import type { KeyboardEvent } from "react";

/**
 * Ctrl Enter sends and Escape goes back, without its other effects on the page. Keys that an input method handles and
 * keys that are held down do nothing.
 */
export function onFormKey(event: KeyboardEvent, { send, back }: { send: () => void; back: () => void }): void {
  const { key } = event;
  if (key !== "Enter" && key !== "Escape") return;
  if (key === "Escape") event.stopPropagation();
  if (event.nativeEvent.isComposing || event.repeat) {
    if (key === "Enter") keepFromSending(event);
    return;
  }
  if (key === "Enter" && !event.ctrlKey && !event.metaKey) return;
  event.preventDefault();
  if (key === "Enter") send();
  else back();
}

/** By default the browser submits a form on Enter in any single-line field or checkbox. */
export function keepFromSending(event: KeyboardEvent): void {
  if (event.target instanceof HTMLInputElement) event.preventDefault();
}
