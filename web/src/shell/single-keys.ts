import { useSyncExternalStore } from "react";

/**
 * Whether letters alone do something. Who dictates, or hits keys by mistake, can switch that off: the browser keeps it.
 */
const KEY = "capstan.single-keys";
const listeners = new Set<() => void>();
let isOn = stored();

/** Without storage, as in a window that keeps nothing, they are on. */
function stored(): boolean {
  try {
    return localStorage.getItem(KEY) !== "off";
  } catch {
    return true;
  }
}

export function areSingleKeysOn(): boolean {
  return isOn;
}

export function setSingleKeys(isWanted: boolean): void {
  isOn = isWanted;
  try {
    if (isWanted) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, "off");
  } catch {
    // It holds until the page is left.
  }
  for (const listener of listeners) listener();
}

export function useSingleKeys(): boolean {
  return useSyncExternalStore(subscribe, areSingleKeysOn);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

// Another window of this browser has changed it.
addEventListener("storage", () => {
  isOn = stored();
  for (const listener of listeners) listener();
});
