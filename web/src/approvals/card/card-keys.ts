import { useEffect, useRef } from "react";
import { useShortcuts } from "../../shell/shortcuts.ts";
import { goTo, isInSight, useCard } from "./card-place.ts";

/** In milliseconds: what is typed sooner was meant for the card before. */
const SETTLE_MS = 400;

/**
 * The keys of the current card. One for a card that just came answers nothing; one for a card whose buttons are out of
 * sight only goes there, so that nobody answers what they do not see.
 */
export function useCardKeys(isWanted: boolean, keys: Readonly<Record<string, () => void>>): void {
  const { card, isCurrent, mayAct } = useCard();
  const isOn = isWanted && isCurrent;
  const since = useRef(0);
  useEffect(() => {
    since.current = performance.now();
  }, [isOn]);
  const press = (act: () => void): void => {
    if (card.current === null || performance.now() - since.current < SETTLE_MS || mayAct?.() === false) return;
    if (isInSight(card.current)) return act();
    goTo(card.current);
    since.current = performance.now();
  };
  const guarded = Object.entries(keys).map(([key, act]) => [key, () => press(act)]);
  useShortcuts(isOn ? Object.fromEntries(guarded) : {});
}
