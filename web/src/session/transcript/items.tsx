import { Brain, ChevronRight, CircleAlert, CircleCheck, Clock3, GitFork, Info } from "lucide-react";
import { memo, type ReactNode, useDeferredValue, useState } from "react";
import { Link } from "wouter";
import { FoldedText } from "../../parts/text/code.tsx";
import { cx } from "../../parts/cx.ts";
import { Clock } from "../../parts/figures/figures.tsx";
import { IconButton } from "../../parts/button.tsx";
import { Markdown } from "../../parts/text/markdown.tsx";
import { Tree } from "../../parts/text/tree.tsx";
import type { Notice } from "./notice.ts";
import { ContentBlocks } from "../calls/content-blocks.tsx";
import { useFold } from "./fold-memory.tsx";
import type { Item } from "./transcript.ts";
import { money, percent, thousands } from "../../../../src/words/amounts.ts";

type Of<Kind extends Item["kind"]> = Extract<Item, { kind: Kind }>;

/** A person's message, with `actions` beside it and `rest` below. */
export function UserItem({
  item,
  actions,
  rest,
}: {
  readonly item: Of<"user">;
  readonly actions?: ReactNode;
  readonly rest?: ReactNode;
}) {
  const { event, isQueued } = item;
  return (
    <article aria-label="You said" className={cx("group flex flex-col items-end gap-1", dimClass(item))}>
      <div className="flex w-full items-center justify-end gap-1">
        {actions !== undefined && actions !== false && (
          <span className="flex opacity-0 transition-opacity group-focus-within:opacity-100 group-hover:opacity-100 max-md:opacity-100">
            {actions}
          </span>
        )}
        <div className="max-w-[85%] min-w-0 rounded-lg rounded-br-sm bg-accent-soft px-3 py-2">
          {event.command !== undefined && <p className="font-mono text-xs text-muted">{event.command}</p>}
          <ContentBlocks content={event.content} isPlain />
        </div>
      </div>
      {rest}
      <div className="flex items-center gap-1 text-xs text-faint empty:hidden">
        {isQueued && (
          <span className="flex items-center gap-1 text-waiting">
            <Clock3 className="size-3" aria-hidden /> queued
          </span>
        )}
        {item.takenBack === true && <span>rewound</span>}
        {item.at !== undefined && <Clock at={item.at} />}
      </div>
    </article>
  );
}

export function ForkButton({ label, onClick }: { readonly label: string; readonly onClick: () => void }) {
  return (
    <IconButton label={label} className="size-6" onClick={onClick}>
      <GitFork className="size-3.5" />
    </IconButton>
  );
}

/** An agent's message, also while it is streaming. */
export const AgentItem = memo(function AgentItem({ item }: { readonly item: Of<"agent"> }) {
  // Deferred, so that the page stays responsive while text arrives faster than it renders.
  const text = useDeferredValue(item.text);
  return (
    <article aria-label="The agent said" aria-busy={item.isStreaming} className={cx("text-base", dimClass(item))}>
      <Markdown text={text} />
      {item.isStreaming && <span aria-hidden className="pulse-dot mt-1 inline-block h-4 w-1.5 rounded-sm bg-accent" />}
    </article>
  );
});

export function ThinkingItem({ item }: { readonly item: Of<"thinking"> }) {
  const [isOpen = false, setOpen] = useFold(item.key);
  return (
    <div className={cx("text-sm text-muted", dimClass(item))}>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex items-center gap-1.5 rounded-md py-0.5 pr-2 hover:text-text"
      >
        <ChevronRight aria-hidden className={cx("size-3.5 transition-transform", isOpen && "rotate-90")} />
        <Brain className="size-3.5" aria-hidden />
        {item.isStreaming ? "Thinking…" : "Thought"}
      </button>
      {isOpen && (
        <div className="mt-1 ml-1.5 border-l-2 border-line pl-3">
          <Markdown text={item.text === "" ? "The model's thinking is not available." : item.text} />
        </div>
      )}
    </div>
  );
}

const NOTICE_LOOKS: Record<Notice["tone"], { readonly icon: typeof Info; readonly look: string }> = {
  quiet: { icon: Info, look: "text-muted" },
  good: { icon: CircleCheck, look: "text-good" },
  waiting: { icon: Clock3, look: "text-waiting" },
  bad: { icon: CircleAlert, look: "text-bad" },
};

export function NoticeItem({ item }: { readonly item: Of<"notice"> }) {
  const { tone, title, detail, stderr, session } = item.notice;
  const { icon: Icon, look } = NOTICE_LOOKS[tone];
  return (
    <div
      className={cx(
        "flex gap-2 text-sm",
        tone === "bad" && "rounded-lg border border-bad/40 bg-bad-soft p-3",
        dimClass(item),
      )}
    >
      <Icon className={cx("mt-0.5 size-4 shrink-0", look)} aria-hidden />
      <div className="min-w-0 flex-1">
        <p dir="auto" className={cx("break-words", tone === "quiet" ? "text-muted" : look)}>
          {title}
          {session !== undefined && (
            <Link href={`/sessions/${session}`} className="ml-1 underline">
              View it
            </Link>
          )}
        </p>
        {detail !== undefined && (
          <div dir="auto" className="text-sm break-words whitespace-pre-wrap text-muted">
            {detail.length > 300 ? <Folded text={detail} /> : detail}
          </div>
        )}
        {stderr !== undefined && (
          <div className="mt-2 rounded-md bg-sunken p-2">
            <p className="mb-1 text-xs text-faint">Last output of the process</p>
            <FoldedText text={stderr} lines={8} end />
          </div>
        )}
      </div>
      {item.at !== undefined && (
        <span className="text-xs text-faint">
          <Clock at={item.at} />
        </span>
      )}
    </div>
  );
}

function Folded({ text }: { readonly text: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      {isOpen ? text : `${text.slice(0, 200)}…`}{" "}
      <button type="button" className="text-accent hover:underline" onClick={() => setOpen(!isOpen)}>
        {isOpen ? "less" : "more"}
      </button>
    </>
  );
}

const ENDS: Partial<Record<string, string>> = {
  retries_exhausted: "Gave up after several attempts",
  budget_reached: "Stopped at a limit",
  refusal: "The model refused",
};

/** The end of a turn: why it ended unless it simply finished, its cost and its structured output. */
export function EndItem({ item, actions }: { readonly item: Of<"end">; readonly actions?: ReactNode }) {
  const { event, usage, before } = item;
  const why = ENDS[event.stop_reason.type];
  return (
    <div className={cx("flex flex-col gap-2", dimClass(item))}>
      {event.output !== undefined && (
        <div className="rounded-lg border border-line bg-surface p-3">
          <p className="mb-1 text-xs font-medium text-faint">Structured output</p>
          <Tree value={event.output} />
        </div>
      )}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line pt-2 text-xs text-faint">
        {why !== undefined && <span className="font-medium text-bad">{why}</span>}
        {event.stop_details?.explanation != null && <span>{event.stop_details.explanation}</span>}
        {usage !== undefined && <Used usage={usage} before={before} />}
        <span className="ml-auto flex items-center gap-1">
          {actions}
          {item.at !== undefined && <Clock at={item.at} />}
        </span>
      </div>
    </div>
  );
}

type Usage = NonNullable<Of<"end">["usage"]>;

/** The usage of the turn, or of the whole session if the previous turn is not loaded. */
function Used({ usage, before }: { readonly usage: Usage; readonly before: Usage | undefined }) {
  const since = (figure: (of: Usage) => number): number => figure(usage) - (before === undefined ? 0 : figure(before));
  const unpriced = since((of) => of.unpriced_requests ?? 0);
  const read = since((of) => of.cache_read_input_tokens);
  const told = since((of) => of.input_tokens) + read + since((of) => of.cache_creation.ephemeral_5m_input_tokens);
  return (
    <span data-figure>
      {money(since((of) => of.usd))} · {thousands(told)} in · {thousands(since((of) => of.output_tokens))} out
      {read > 0 && ` · ${percent(read / told)} from cache`}
      {before === undefined && " so far"}
      {unpriced > 0 && ` · ${unpriced} requests without a known price`}
    </span>
  );
}

function dimClass({ takenBack }: { readonly takenBack?: boolean }): string | false {
  return takenBack === true && "opacity-50 line-through decoration-faint";
}
