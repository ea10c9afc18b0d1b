import { useQuery } from "@tanstack/react-query";
import { ChevronDown, ChevronUp, Link as LinkIcon, X } from "lucide-react";
import { type ReactNode, useId } from "react";
import type { ClippedEvent } from "../../../src/client/index.ts";
import { api } from "../api.ts";
import { IconButton } from "../parts/button.tsx";
import { CopyButton } from "../parts/text/code.tsx";
import { When } from "../parts/figures/figures.tsx";
import { Loading } from "../parts/loading.tsx";
import { Problem } from "../parts/failure/problem.tsx";
import { tell, tellProblem } from "../parts/toast.tsx";
import { Pill } from "../parts/tone.tsx";
import { Tree } from "../parts/text/tree.tsx";
import { isOfCall } from "./call-story.ts";
import { CallView } from "./call-view.tsx";
import { whoOf } from "./event-row.tsx";
import { GROUP_NAMES, groupOf } from "./groups.ts";
import { StateView } from "./state/state-view.tsx";
import { summaryOf } from "./summary.ts";
import { thousands } from "../../../src/words/amounts.ts";

/** One event as saved, and the session's state right after it. */
export function EventDetail({
  id,
  seq,
  head,
  names,
  onStep,
  onClose,
}: {
  readonly id: string;
  readonly seq: number;
  readonly head: number;
  readonly names: ReadonlyMap<string, string>;
  readonly onStep: (direction: 1 | -1) => void;
  readonly onClose: () => void;
}) {
  const { data, error, refetch, isPlaceholderData } = useQuery({
    queryKey: ["session", id, "event", seq],
    queryFn: () => readEvent(id, seq),
    placeholderData: (before) => before,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <>
      <header className="flex items-center gap-1 border-b border-line py-1 pr-1 pl-3">
        <h2 className="min-w-0 flex-1 truncate text-sm font-semibold">
          Event <span data-figure>{thousands(seq)}</span>
          <span className="font-normal text-faint"> of {thousands(head)}</span>
        </h2>
        <IconButton
          label="Copy link to this event"
          onClick={() => {
            const link = `${location.origin}/audit/${id}?seq=${seq}`;
            navigator.clipboard.writeText(link).then(() => tell("Link copied."), tellProblem);
          }}
        >
          <LinkIcon className="size-4" />
        </IconButton>
        <IconButton label="Previous event" onClick={() => onStep(-1)}>
          <ChevronUp className="size-4" />
        </IconButton>
        <IconButton label="Next event" onClick={() => onStep(1)}>
          <ChevronDown className="size-4" />
        </IconButton>
        <IconButton label="Back to the list" className="lg:hidden" onClick={onClose}>
          <X className="size-4" />
        </IconButton>
      </header>
      {/* It scrolls, so it must be reachable by keyboard. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div
        role="region"
        aria-label="Selected event"
        tabIndex={0}
        className="flex min-h-0 flex-1 flex-col gap-4 overflow-y-auto p-3 outline-offset-[-2px]"
      >
        {error !== null && <Problem title="Could not load this event" thrown={error} onRetry={() => void refetch()} />}
        {data === undefined && error === null && <Loading label="Loading the event" />}
        {data !== undefined && (
          <div className="flex flex-col gap-1">
            <Said {...summaryOf(data)} />
            <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-muted">
              <span className="font-mono">{data.type}</span>
              <Pill tone="quiet">{GROUP_NAMES[groupOf(data)]}</Pill>
              <span>{whoOf(data, names)}</span>
              {typeof data.processed_at === "string" && <When at={data.processed_at} />}
            </p>
          </div>
        )}
        {data !== undefined && isOfCall(data) && (
          <Part title="Call">
            <CallView id={id} event={data} />
          </Part>
        )}
        <Part title="State after this event">
          <StateView id={id} seq={seq} />
        </Part>
        {data !== undefined && !isPlaceholderData && <Stored key={seq} id={id} event={data} />}
      </div>
    </>
  );
}

/** In characters: longer texts are truncated on screen. */
const CLIP = 100_000;

async function readEvent(id: string, seq: number): Promise<ClippedEvent> {
  const { data } = await api.sessions.page(id, { after: seq - 1, up_to: seq, limit: 1, clip: CLIP });
  // If there is none, the server returns an error.
  return data[0] ?? api.sessions.event(id, seq);
}

function Stored({ id, event }: { readonly id: string; readonly event: ClippedEvent }) {
  const { clipped = false, ...stored } = event;
  return (
    <Part title="Event as saved" action={!clipped && <CopyButton text={JSON.stringify(stored, undefined, 2)} />}>
      <div className="overflow-x-auto rounded-md border border-line bg-sunken/60 p-2">
        <Tree value={stored} />
      </div>
      {clipped && (
        <a
          href={`/api/sessions/${encodeURIComponent(id)}/events/${event.seq}`}
          download={`${id}-${event.seq}.json`}
          className="text-sm font-medium text-accent hover:underline"
        >
          Truncated. Save the full event
        </a>
      )}
    </Part>
  );
}

function Said({ text, said }: ReturnType<typeof summaryOf>) {
  return (
    <p className="text-sm font-medium break-words">
      {text}
      {said !== undefined && (
        <span dir="auto" className="line-clamp-4 font-normal text-muted">
          {said}
        </span>
      )}
    </p>
  );
}

function Part({
  title,
  action,
  children,
}: {
  readonly title: string;
  readonly action?: ReactNode;
  readonly children: ReactNode;
}) {
  const titleId = useId();
  return (
    <section aria-labelledby={titleId} className="flex flex-col gap-1.5">
      <div className="flex h-6 items-center justify-between gap-2">
        <h3 id={titleId} className="text-xs font-medium text-faint">
          {title}
        </h3>
        {action}
      </div>
      {children}
    </section>
  );
}
