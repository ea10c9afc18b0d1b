import { createContext, type RefObject, use } from "react";

/** What the parts of a card know about the card. */
export interface CardPosition {
  /** The approval's id. */
  readonly id: string;
  readonly card: RefObject<HTMLElement | null>;
  /** Whether the keys a, d and e act on this card. */
  readonly isCurrent: boolean;
  /** Whether the keys may act right now (default: always). */
  readonly mayAct: (() => boolean) | undefined;
  /** Describes the part of the request that is not shown yet. */
  readonly unseen: string | undefined;
  readonly showAll: () => void;
}

export const CardContext = createContext<CardPosition | undefined>(undefined);

export function useCard(): CardPosition {
  const place = use(CardContext);
  if (place === undefined) throw new Error("This component must be inside a card.");
  return place;
}

/** Whether the element that a key would press is visible, not scrolled away or covered. */
export function isInSight(card: HTMLElement): boolean {
  return [...card.querySelectorAll("[data-actions] button")].every((button) => {
    const { left, top, width, height } = button.getBoundingClientRect();
    return button.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  });
}

/** Scrolls to a card until its buttons are visible too, and focuses it. */
export function goToCard(card: HTMLElement): void {
  card.scrollIntoView({ block: "nearest" });
  card.querySelector("[data-actions]")?.scrollIntoView({ block: "nearest" });
  card.focus({ preventScroll: true });
}
