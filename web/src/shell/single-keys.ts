import { useSyncExternalStore } from "react";

/**
 * Whether single letters are shortcuts. People who dictate or press keys by mistake can turn it off. Saved in the browser.
 */
const KEY = "capstan.single-keys";
const listeners = new Set<() => void>();
let isOn = readStored();

/** Without storage, as in a private window, they are on. */
function readStored(): boolean {
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
    // It applies until the page is closed.
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

// Another window of this browser changed it.
addEventListener("storage", () => {
  isOn = readStored();
  for (const listener of listeners) listener();
});
