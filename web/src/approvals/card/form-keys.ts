import type { KeyboardEvent } from "react";

/**
 * Ctrl Enter sends, Escape goes back; whatever else Escape does on the page, it does not do here. A key that belongs to an
 * input method ends a word, and one that is held down was pressed for what was there before: neither does anything.
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

/** By itself the browser sends a form at Enter in any field of one line, also in a box that is ticked. */
export function keepFromSending(event: KeyboardEvent): void {
  if (event.target instanceof HTMLInputElement) event.preventDefault();
}
