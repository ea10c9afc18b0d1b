import { useEffect, useRef } from "react";
import { areSingleKeysOn } from "./single-keys.ts";

/** Keys → actions. A sequence of two keys is written with a space: `g s`. */
export type Shortcuts = Readonly<Record<string, (event: KeyboardEvent) => void>>;

/** In milliseconds: the maximum time between the two keys of a sequence. */
const PAIR_MS = 1_200;

/** Only navigation repeats while its key is held down. */
const MOVES = new Set(["j", "k", "ArrowDown", "ArrowUp"]);

/** Dialogs and menus handle their own keys: a letter finds a menu item. Tooltips do not. */
const ABOVE = "dialog[open], [role=menu]";

/** Shared by all listeners: the second key of a sequence must do nothing else, least of all allow something. */
const mounted = new Set<{ readonly current: Shortcuts }>();

function startsPair(key: string): boolean {
  return [...mounted].some(({ current }) => Object.keys(current).some((keys) => keys.startsWith(`${key} `)));
}

/** Handles shortcuts, except while the person types or a dialog or menu is open. */
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
      // Other keys have names of several letters.
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
  // Enter activates the focused element.
  const presses = key === "Enter" && target.closest("a, button, summary, [role=tab]") !== null;
  // The key that closed a menu must not do anything else.
  return writes || presses || target.closest(ABOVE) !== null;
}
