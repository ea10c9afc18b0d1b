import { useEffect, useRef } from "react";
import { areSingleKeysOn } from "./single-keys.ts";

/** Keys → what they do. Two keys after each other are written with a space: `g s`. */
export type Shortcuts = Readonly<Record<string, (event: KeyboardEvent) => void>>;

/** In milliseconds: how long the second key of a pair may take. */
const PAIR_MS = 1_200;

/** Only what moves goes on while its key is held down. */
const MOVES = new Set(["j", "k", "ArrowDown", "ArrowUp"]);

/** What is open above the page has its own keys: a letter finds an item of a menu. A tooltip has none. */
const ABOVE = "dialog[open], [role=menu]";

/** Of all that listen: the second key of anybody's pair does nothing else, least of all allow something. */
const mounted = new Set<{ readonly current: Shortcuts }>();

function startsPair(key: string): boolean {
  return [...mounted].some(({ current }) => Object.keys(current).some((keys) => keys.startsWith(`${key} `)));
}

/** Does what the keys say, but not while somebody writes, nor while a dialog or a menu is open, whose keys are its own. */
export function useShortcuts(shortcuts: Shortcuts): void {
  const latest = useRef(shortcuts);
  useEffect(() => {
    latest.current = shortcuts;
  });
  useEffect(() => {
    let first: { readonly key: string; readonly at: number } | undefined;
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isBusy(event)) return;
      if (event.repeat && !MOVES.has(event.key)) return;
      // Names of other keys are words.
      if (event.key.length === 1 && !areSingleKeysOn()) return;
      const isSecond = first !== undefined && event.timeStamp - first.at < PAIR_MS && startsPair(first.key);
      const act = latest.current[isSecond ? `${first?.key ?? ""} ${event.key}` : event.key];
      first = isSecond ? undefined : { key: event.key, at: event.timeStamp };
      if (act === undefined) return;
      event.preventDefault();
      act(event);
    };
    mounted.add(latest);
    document.addEventListener("keydown", onKey);
    return () => {
      mounted.delete(latest);
      document.removeEventListener("keydown", onKey);
    };
  }, []);
}

function isBusy({ target, key }: KeyboardEvent): boolean {
  if (document.querySelector(ABOVE) !== null) return true;
  if (!(target instanceof HTMLElement)) return false;
  const writes = target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
  // Enter presses what has the focus.
  const presses = key === "Enter" && target.closest("a, button, summary, [role=tab]") !== null;
  // The key that closed a menu was meant for it.
  return writes || presses || target.closest(ABOVE) !== null;
}
