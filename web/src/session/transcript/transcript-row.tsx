import { memo } from "react";
import { CallCard } from "../calls/call-card.tsx";
import { AgentItem, EndItem, ForkButton, NoticeItem, ThinkingItem, UserItem } from "./items.tsx";
import { SaveWhole } from "../save-whole.tsx";
import type { SessionActions } from "../session-actions.ts";
import type { Item } from "./transcript.ts";

/** One item of a transcript, memoized: unchanged items are not rendered again for every preview. */
export const TranscriptRow = memo(function TranscriptRow({
  item,
  sessionId,
  onThread,
  onFork,
}: {
  readonly item: Item;
  readonly sessionId: string;
  readonly onThread: (id: string) => void;
  /** Absent for viewers. */
  readonly onFork: SessionActions["fork"] | undefined;
}) {
  const { seq } = item;
  const rest = item.isClipped === true && seq !== undefined && item.kind !== "call" && (
    <SaveWhole sessionId={sessionId} seq={seq}>
      The text is truncated. Save it in full
    </SaveWhole>
  );
  switch (item.kind) {
    case "user": {
      const fork = onFork !== undefined && seq !== undefined && seq > 1 && (
        <ForkButton label="Fork from before this message" onClick={() => onFork(seq - 1, item.event)} />
      );
      return <UserItem item={item} actions={fork} rest={rest} />;
    }
    case "agent":
      return (
        <>
          <AgentItem item={item} />
          {rest}
        </>
      );
    case "thinking":
      return (
        <>
          <ThinkingItem item={item} />
          {rest}
        </>
      );
    case "call":
      return (
        <CallCard call={item.call} sessionId={sessionId} isTakenBack={item.takenBack === true} onThread={onThread} />
      );
    case "notice":
      return <NoticeItem item={item} />;
    case "end": {
      const fork = onFork !== undefined && seq !== undefined && (
        <ForkButton label="Fork from here" onClick={() => onFork(seq)} />
      );
      return <EndItem item={item} actions={fork} />;
    }
  }
});
