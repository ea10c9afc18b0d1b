import { ChevronLeft, ChevronRight, X } from "lucide-react";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "react";
import type { WireApproval } from "../../../src/client/index.ts";
import { Button, IconButton, Key } from "../parts/button.tsx";
import { cx } from "../parts/cx.ts";
import { useShortcuts } from "../shell/shortcuts.ts";
import { useSingleKeys } from "../shell/single-keys.ts";
import { ApprovalCard } from "./card/approval-card.tsx";
import { useDockFocus } from "./dock-focus.ts";
import { around, follower, shownIn } from "./inbox.ts";
import { useSeenApprovals } from "./pending.ts";

/** In milliseconds: earlier clicks and keys were not meant for a card that has just appeared. */
const CLICK_SETTLE_MS = 500;
/** A message typed without focusing its field may well start with "wa". */
const KEY_SETTLE_MS = 700;

const NONE: readonly WireApproval[] = [];

/**
 * The approvals of one session, between the transcript and the composer, one card at a time. It is outside the scrolled
 * list, so that half-written answers are not lost.
 */
export function SessionApprovals({ sessionId }: { readonly sessionId: string }) {
  return <Dock key={sessionId} sessionId={sessionId} />;
}

function Dock({ sessionId }: { readonly sessionId: string }) {
  const { data: pending = NONE } = useSeenApprovals();
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const [kept, setKept] = useState<readonly WireApproval[]>(NONE);
  const [current, setCurrent] = useState<string>();
  // A card that was never opened has no draft and need not be rendered.
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const dock = useRef<HTMLElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const cameAt = useRef(-Infinity);
  const titleId = useId();

  const waiting = pending.filter(({ id, session_id }) => session_id === sessionId && !gone.has(id));
  const isWaiting = (id: string): boolean => waiting.some((one) => one.id === id);
  const shown = shownIn(kept, waiting, gone);
  const ids = shown.map(({ id }) => id);
  if (shown !== kept) setKept(shown);
  // The current card stays until the person is done with it, whatever its outcome.
  if (current === undefined ? ids.length > 0 : !ids.includes(current)) {
    const known = kept.map(({ id }) => id);
    setCurrent(follower(known, current, ids, isWaiting));
  }
  if (current !== undefined && !opened.has(current)) setOpened(new Set([...opened, current]));

  // Start reading each card at its top.
  useLayoutEffect(() => {
    // Newer browsers return a promise, which must not become the effect's cleanup.
    scroller.current?.scrollTo({ top: 0 });
  }, [current]);
  const isSettled = useSettled(current);
  const focus = useDockFocus(dock, current);
  const areKeysOn = useSingleKeys();
  useShortcuts(
    current === undefined
      ? {}
      : {
          w: () => {
            focus.go();
            cameAt.current = performance.now();
          },
        },
  );
  const mayAct = (): boolean =>
    dock.current?.contains(document.activeElement) === true && performance.now() - cameAt.current > KEY_SETTLE_MS;
  const leave = (id: string): void => {
    focus.follow(id);
    setGone((before) => new Set([...before, id]));
  };

  if (current === undefined || !ids.includes(current)) return null;
  const step = (by: 1 | -1) => () => setCurrent(around(ids, current, by));
  return (
    <section
      ref={dock}
      aria-labelledby={titleId}
      onFocus={focus.onFocus}
      className="group flex max-h-[60dvh] min-h-24 flex-col border-t border-line"
    >
      <header className="mx-auto flex min-h-9 w-full max-w-3xl shrink-0 flex-wrap items-center gap-x-2 px-4 pt-1">
        <h2 id={titleId} className="text-sm font-semibold text-waiting">
          Needs approval
        </h2>
        {ids.length > 1 && (
          <div className="flex items-center text-xs text-muted">
            <IconButton label="Previous approval" className="max-md:size-10" onClick={step(-1)}>
              <ChevronLeft className="size-4" />
            </IconButton>
            <span data-figure role="status">
              {ids.indexOf(current) + 1} of {ids.length}
            </span>
            <IconButton label="Next approval" className="max-md:size-10" onClick={step(1)}>
              <ChevronRight className="size-4" />
            </IconButton>
          </div>
        )}
        {areKeysOn && isWaiting(current) && (
          <span className="text-xs text-faint group-focus-within:invisible max-sm:hidden">
            <Key>w</Key> to answer by keyboard
          </span>
        )}
        {!isWaiting(current) && (
          <Button
            small
            look="quiet"
            className="ml-auto max-md:h-10"
            icon={<X className="size-3.5" aria-hidden />}
            onClick={() => leave(current)}
          >
            Dismiss
          </Button>
        )}
      </header>
      {/* Viewers have no button to focus, but must be able to scroll by keyboard. */}
      <div
        ref={scroller}
        role="group"
        aria-label="Approval request"
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        className={cx(
          "min-h-0 flex-1 overflow-y-auto overscroll-contain",
          "group-[:not(:focus-within)]:[&_kbd]:invisible",
          !isSettled && "[&_[data-actions]]:pointer-events-none",
        )}
      >
        {shown
          .filter(({ id }) => opened.has(id))
          .map((approval) => (
            <div key={approval.id} hidden={approval.id !== current} className="mx-auto w-full max-w-3xl px-4 pt-1 pb-3">
              <ApprovalCard
                approval={approval}
                isCurrent={approval.id === current}
                mayAct={mayAct}
                onAnswered={(isMine) => isMine && leave(approval.id)}
              />
            </div>
          ))}
      </div>
    </section>
  );
}

/** Whether a card has been visible long enough that a click on it is intentional. */
function useSettled(current: string | undefined): boolean {
  const [settled, setSettled] = useState<string>();
  useEffect(() => {
    const timer = setTimeout(() => setSettled(current), CLICK_SETTLE_MS);
    return () => clearTimeout(timer);
  }, [current]);
  return settled === current;
}
