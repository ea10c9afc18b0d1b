import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import { type ReactNode, type Ref, useCallback, useEffect, useImperativeHandle, useRef, useState } from "react";
import { Button } from "../../parts/button.tsx";
import { EarlierBar } from "./earlier-bar.tsx";
import { NEAR_END, useFollowEnd } from "./follow-end.ts";

/** In pixels from the beginning: closer than this loads more. */
const NEAR_START = 600;
/** Pages loaded without scrolling if they contain nothing of this thread. */
const BY_ITSELF = 25;

export interface TranscriptHandle {
  /** Goes to the newest item and follows what comes after it. */
  toEnd(): void;
}

/**
 * The items of a transcript; only visible ones are rendered. At the end, the view follows new items. Further up, it keeps
 * its position, whatever is added at either end.
 */
export function TranscriptView<Row extends { readonly key: string }>({
  ref,
  items,
  first,
  hasOlder,
  onOlder,
  onReading,
  render,
}: {
  readonly ref?: Ref<TranscriptHandle>;
  readonly items: readonly Row[];
  /** The seq of the first loaded event. */
  readonly first: number;
  readonly hasOlder: boolean;
  readonly onOlder: () => Promise<void>;
  /** Called with whether the person reads further up. */
  readonly onReading: (isReading: boolean) => void;
  readonly render: (item: Row) => ReactNode;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState<string>();
  const { older, state } = useOlder(onOlder);
  const virtual = useVirtualizer({
    count: items.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 96,
    getItemKey: (index) => items[index]?.key ?? index,
    overscan: 4,
    paddingStart: 16,
    paddingEnd: 16,
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: NEAR_END,
    // A row that grows while measured would be measured again in the same frame, endlessly.
    useAnimationFrameWithResizeObserver: true,
  });

  const scrollToEnd = useCallback(() => virtual.scrollToEnd(), [virtual]);
  const { isFollowing, toEnd, onMove } = useFollowEnd(scroller, content, scrollToEnd);
  useImperativeHandle(ref, () => ({ toEnd }), [toEnd]);

  const onScroll = (): void => {
    const element = scroller.current;
    if (element === null) return;
    const follows = onMove(element);
    if (follows) setSeen(items.at(-1)?.key);
    onReading(!follows);
    if (hasOlder && state === "rest" && element.scrollTop < NEAR_START) older();
  };
  // Without anything to scroll, nobody could load more: the last item of a quiet thread may be far up.
  const read = useRef(0);
  useEffect(() => {
    const element = scroller.current;
    if (!hasOlder || element === null || read.current >= BY_ITSELF) return;
    if (element.scrollHeight > element.clientHeight + NEAR_START) return;
    read.current += 1;
    older();
  }, [hasOlder, first, older]);

  const at = items.findLastIndex(({ key }) => key === seen);
  const fresh = at === -1 ? 0 : items.length - 1 - at;
  const isNearStart = hasOlder && (items.length === 0 || (virtual.scrollOffset ?? 0) < NEAR_START);
  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={scroller}
        onScroll={onScroll}
        role="log"
        aria-label="Transcript"
        aria-live="off"
        // Must be scrollable by keyboard.
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        onKeyDown={(event) => {
          if (event.key === "End" && event.target === event.currentTarget) {
            event.preventDefault();
            toEnd();
          }
        }}
        className="h-full overflow-y-auto overscroll-contain [overflow-anchor:none]"
      >
        <div ref={content} className="relative mx-auto w-full max-w-3xl" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((row) => {
            const item = items[row.index];
            return (
              <div
                key={row.key}
                ref={virtual.measureElement}
                data-index={row.index}
                className="absolute top-0 left-0 w-full px-4 pb-3"
                style={{ transform: `translateY(${row.start}px)` }}
              >
                {item !== undefined && render(item)}
              </div>
            );
          })}
        </div>
      </div>
      {isNearStart && <EarlierBar state={state} onLoad={older} />}
      {!isFollowing && (
        <Button
          small
          className="absolute right-4 bottom-3 shadow-float"
          icon={<ArrowDown className="size-3.5" />}
          onClick={toEnd}
        >
          {fresh > 0 ? `${fresh} new` : "Jump to newest"}
        </Button>
      )}
    </div>
  );
}

/** Loads earlier events, one request at a time. After a failure it waits for the person to retry. */
function useOlder(onOlder: () => Promise<void>): {
  readonly older: () => void;
  readonly state: "rest" | "busy" | "failed";
} {
  const [state, setState] = useState<"rest" | "busy" | "failed">("rest");
  const older = useCallback(() => {
    const load = async (): Promise<void> => {
      setState("busy");
      try {
        await onOlder();
        setState("rest");
      } catch {
        setState("failed");
      }
    };
    void load();
  }, [onOlder]);
  return { older, state };
}
