import { useEffect, useRef } from "react";
import { useShortcuts } from "../../shell/shortcuts.ts";
import { goToCard, isInSight, useCard } from "./card-position.ts";

/** In milliseconds: keys pressed sooner were meant for the previous card. */
const SETTLE_MS = 400;

/**
 * The keys of the current card. They do nothing while the card has only just appeared. If its buttons are out of sight,
 * they only scroll to it: nobody should answer a card they cannot see.
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
    goToCard(card.current);
    since.current = performance.now();
  };
  const guarded = Object.entries(keys).map(([key, act]) => [key, () => press(act)]);
  useShortcuts(isOn ? Object.fromEntries(guarded) : {});
}
