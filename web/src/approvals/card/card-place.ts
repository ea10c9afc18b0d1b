import { createContext, type RefObject, use } from "react";

/** What the parts of a card know of the card itself. */
export interface CardPlace {
  /** Of the approval. */
  readonly id: string;
  readonly card: RefObject<HTMLElement | null>;
  /** Whether the keys a, d and e are for this one. */
  readonly isCurrent: boolean;
  /** Whether the keys may act at this moment; without it they always may. */
  readonly mayAct: (() => boolean) | undefined;
  /** Which part of what is asked about is not shown yet, in words. */
  readonly unseen: string | undefined;
  readonly showAll: () => void;
}

export const CardContext = createContext<CardPlace | undefined>(undefined);

export function useCard(): CardPlace {
  const place = use(CardContext);
  if (place === undefined) throw new Error("This is a part of a card, and stands outside of one.");
  return place;
}

/** Whether somebody can see what a key would press, whatever scrolls or lies above it. */
export function isInSight(card: HTMLElement): boolean {
  return [...card.querySelectorAll("[data-actions] button")].every((button) => {
    const { left, top, width, height } = button.getBoundingClientRect();
    return button.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  });
}

/** Scrolls to a card, so far that its buttons are in sight too, and gives it the focus. */
export function goTo(card: HTMLElement): void {
  card.scrollIntoView({ block: "nearest" });
  card.querySelector("[data-actions]")?.scrollIntoView({ block: "nearest" });
  card.focus({ preventScroll: true });
}
